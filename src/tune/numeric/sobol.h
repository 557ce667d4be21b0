// Scrambled Sobol points: fill [0, 1)^d more evenly than chance does, in any prefix.
//
// Promises:
//   1. A point depends on (seed, index) only; points may be asked for in any order.
//   2. The first 2^m points fall into each of 2^m equal slices of every coordinate exactly once.
//   3. Different seeds give independent scrambles; each single point is uniform over seeds.
//
// Sobol 1967 in natural order; directions for 36 coordinates: primitive polynomials over GF(2)
// in order of degree, initial values chosen here by search for low t-values of the planes of two
// coordinates. Owen's nested uniform scramble by hashing (Burley, "Practical hash-based Owen
// scrambling", 2020). Coordinates past the table are drawn by chance, without promise 2.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace meridian::tune {

class Sobol {
 public:
  static constexpr std::size_t table_dimensions = 36;

  Sobol(std::size_t dimensions, std::uint64_t seed) : dimensions_(dimensions), seed_(seed) {}

  std::size_t dimensions() const { return dimensions_; }
  // Writes `dimensions()` values in [0, 1). Index below 2^32.
  void point(std::uint64_t index, std::span<double> out) const;

 private:
  double coordinate(std::uint64_t index, std::size_t dimension) const;

  std::size_t dimensions_;
  std::uint64_t seed_;
};

}  // namespace meridian::tune
