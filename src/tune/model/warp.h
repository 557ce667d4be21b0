// Losses as a model likes them: mean 0, variance 1, without the long tails that hide what happens
// near the best.
//
// Yeo-Johnson's power transform (2000) with the exponent that makes the values most like a normal
// distribution, after a shift and scale by median and spread. Strictly increasing: order is kept.
// Promise: values a + b y, b > 0, give the same warped values as y, whatever a and b; values up to
// the largest double do no harm.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace meridian::tune {

class Warp {
 public:
  explicit Warp(std::span<const double> losses);  // finite; at least one

  double operator()(double loss) const;
  double exponent() const { return exponent_; }
  // What one unit of the warped scale is, in losses, around their median.
  double spread() const { return scale_ * deviation_; }

 private:
  double centre_ = 0, scale_ = 1;  // of the losses
  double exponent_ = 1;
  double mean_ = 0, deviation_ = 1;  // after the power
};

}  // namespace meridian::tune
