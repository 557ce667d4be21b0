// How alike two configurations are: Matérn-5/2 with a length scale per coordinate (ARD), over
// numbers and categories together.
//
//   k(a, b) = s² (1 + √5 r + 5/3 r²) exp(-√5 r),   r² = Σ D_i(a, b) / l_i²
//
// D_i is the squared difference of numbers; of categories it is 0 when equal and else 1, so that no
// order among categories is supposed. Coordinates are numbers of about unit size, or indexes.
//
// Rasmussen, Williams, "Gaussian Processes for Machine Learning" (2006), chapters 4 and 5.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace meridian::tune {

enum class Coordinate { number, category };
using Layout = std::vector<Coordinate>;

// n rows of `width` coordinates, each contiguous.
struct Rows {
  std::size_t width = 0;
  std::vector<double> values;

  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const double> row(std::size_t i) const { return {values.data() + i * width, width}; }
  void add(std::span<const double> x) { values.insert(values.end(), x.begin(), x.end()); }
};

struct KernelParameters {
  std::vector<double> length;  // one per coordinate
  double signal = 1;           // s²: variance of the function
  double noise = 1e-6;         // variance of a measurement around the function
};

inline double squared_difference(Coordinate kind, double a, double b) {
  if (kind == Coordinate::category) return a == b ? 0 : 1;
  return (a - b) * (a - b);
}

// r² of x to each of `rows`, weighted by 1 / l². An x that is shorter than the rows lacks their
// last coordinates: they count as category 0.
void squared_distances(const Layout& layout, std::span<const double> inverse_squares,
                       const Rows& rows, std::span<const double> x, double* out);

}  // namespace meridian::tune
