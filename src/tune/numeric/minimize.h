// A local minimum of a smooth function in a box.
//
//   auto end = minimize_in_box(start, lower, upper, [](span<const double> x, span<double> gradient)
//   {…});
//
// Limited-memory BFGS on the free variables with projected backtracking (Bertsekas, "Projected
// Newton methods", 1982; Nocedal 1980 for the two-loop recursion; Byrd et al. 1995 is the relative
// with a Cauchy point).
//
// Promises:
//   1. Every point that the function is asked for lies in the box, and so does the end.
//   2. The end is never worse than the start.
//   3. At most `evaluations` calls. A value that is not finite counts as "too far".
//
// Works on caller's memory plus O(memory · n). One thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace meridian::tune {

// Returns the value at x, and writes its gradient (size of x).
using Differentiable = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct MinimizeSettings {
  int evaluations = 100;
  int memory = 8;
  double gradient_tolerance = 1e-6;  // of the projected gradient's largest element
  double value_tolerance = 1e-9;     // stop when a step gains less, relative to 1 + |value|
  double first_step = 0.1;           // length of the first step, in largest coordinate
};

struct Minimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
};

Minimum minimize_in_box(std::span<const double> start, std::span<const double> lower,
                        std::span<const double> upper, const Differentiable& function,
                        const MinimizeSettings& settings = {});

}  // namespace meridian::tune
