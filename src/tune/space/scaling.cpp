// SPDX-License-Identifier: Apache-2.0
#include "tune/space/scaling.h"

#include <algorithm>
#include <cmath>

namespace meridian::tune {

namespace {

double stretched(double x, Scaling scaling) {
  if (scaling == Scaling::logarithmic) return std::log(x);
  if (scaling == Scaling::reverse_logarithmic) return -std::log1p(-x);
  return x;
}

double relaxed(double y, Scaling scaling) {
  if (scaling == Scaling::logarithmic) return std::exp(y);
  if (scaling == Scaling::reverse_logarithmic) return -std::expm1(-y);
  return y;
}

// The stretched ends. Integers get half a step more on each side, so that the first and the last
// have their full share.
struct Ends {
  double low = 0;
  double high = 0;
};

Ends ends_of(const Range& range, Scaling scaling) {
  const double margin = range.numbers == Numbers::integer ? 0.5 : 0;
  return {stretched(range.min - margin, scaling), stretched(range.max + margin, scaling)};
}

}  // namespace

std::string_view name(Scaling scaling) {
  switch (scaling) {
    case Scaling::automatic: return "Auto";
    case Scaling::linear: return "Linear";
    case Scaling::logarithmic: return "Logarithmic";
    case Scaling::reverse_logarithmic: return "ReverseLogarithmic";
  }
  return "";
}

Scaling resolved(Scaling scaling, const Range& range) {
  if (scaling != Scaling::automatic) return scaling;
  if (range.min > 0 && range.max / range.min >= 1000) return Scaling::logarithmic;
  if (range.numbers == Numbers::continuous && range.min >= 0.5 && range.max < 1 &&
      (1 - range.min) / (1 - range.max) >= 50) {
    return Scaling::reverse_logarithmic;
  }
  return Scaling::linear;
}

double from_unit(double unit, const Range& range, Scaling scaling) {
  if (!(unit > 0)) return range.min;
  if (unit >= 1) return range.max;
  const Ends ends = ends_of(range, scaling);
  // Weighted so that ends of opposite sign near the largest double do not overflow.
  double x = relaxed(ends.low * (1 - unit) + ends.high * unit, scaling);
  if (range.numbers == Numbers::integer) x = std::floor(x + 0.5);
  return std::clamp(x, range.min, range.max);
}

double to_unit(double value, const Range& range, Scaling scaling) {
  const Ends ends = ends_of(range, scaling);
  if (!(ends.high > ends.low)) return 0.5;
  const double x = stretched(std::clamp(value, range.min, range.max), scaling);
  // Halves first, for the same reason.
  const double unit = (x / 2 - ends.low / 2) / (ends.high / 2 - ends.low / 2);
  return std::clamp(unit, 0.0, 1.0);
}

}  // namespace meridian::tune
