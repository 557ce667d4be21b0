// How a range of numbers is stretched over [0, 1], so that a strategy that moves evenly there moves
// sensibly in the range.
//
//   linear               even in x
//   logarithmic          even in log x; needs min > 0
//   reverse_logarithmic  even in -log(1 - x), for what is most sensitive near 1 (momentum);
//                        continuous ranges within [0, 1) only
//   automatic            chosen by `resolved`, a rule on the ends of the range only
//
// The names and their conditions are those of SageMaker's ScalingType.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace meridian::tune {

enum class Scaling { automatic, linear, logarithmic, reverse_logarithmic };

std::string_view name(Scaling scaling);  // "Auto", "Linear", "Logarithmic", "ReverseLogarithmic"

enum class Numbers { continuous, integer };

struct Range {
  double min = 0;
  double max = 0;
  Numbers numbers = Numbers::continuous;
};

// What `automatic` stands for: logarithmic when min > 0 and max/min >= 1000; for continuous ranges
// inside [0, 1), reverse logarithmic when (1-min)/(1-max) >= 50 and min >= 0.5; else linear.
Scaling resolved(Scaling scaling, const Range& range);

// Both clamp, so that rounding breaks no bound; 0 gives exactly min and 1 exactly max. Between its
// ends from_unit is non-decreasing up to the last digit. Each integer owns an interval of [0, 1] of
// its own, as wide as the scaling makes [n - 1/2, n + 1/2]; to_unit gives a place inside it.
// `scaling` is resolved.
double from_unit(double unit, const Range& range, Scaling scaling);
double to_unit(double value, const Range& range, Scaling scaling);

}  // namespace meridian::tune
