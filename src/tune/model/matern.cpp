// SPDX-License-Identifier: Apache-2.0
#include "tune/model/matern.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tune/numeric/lanes.h"

namespace meridian::tune {

namespace {

// exp(-x) for x in [0, 700]: 2^k e^r with |r| <= ln 2 / 2, e^r by its Taylor series to r^13.
MERIDIAN_INLINE void exp_of_minus(const Four& x, Four& out) {
  constexpr double log2_e = 1.4426950408889634;
  constexpr double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
  constexpr double magic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const Four shifted = magic - x * log2_e;
  const Four k = shifted - magic;
  const Four r = (-x - k * ln2_high) - k * ln2_low;
  Four sum = r * (1.0 / 6227020800) + 1.0 / 479001600;
  for (const double c : {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                         1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0}) {
    sum = sum * r + c;
  }
  FourBits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits <<= 52;  // k in the place of the exponent; the rest of `shifted` falls off
  FourBits scaled;
  std::memcpy(&scaled, &sum, sizeof scaled);
  scaled += bits;
  std::memcpy(&out, &scaled, sizeof out);
}

}  // namespace

MERIDIAN_WIDE void matern(const double* squared_distances, std::size_t count, double* value,
                          double* slope) {
  constexpr double sqrt5 = 2.2360679774997896964;
  for (std::size_t i = 0; i < count; i += 4) {
    const std::size_t width = std::min<std::size_t>(4, count - i);
    Four r = {};
    for (std::size_t k = 0; k < width; ++k) {
      r[k] = std::min(sqrt5 * std::sqrt(squared_distances[i + k]), 700.0);
    }
    Four decay;
    exp_of_minus(r, decay);
    const Four near = (1 + r) * decay;
    const Four full = near + r * r * decay * (1.0 / 3);
    const Four by_square = near * (5.0 / 3);
    if (value != nullptr) std::memcpy(value + i, &full, width * sizeof(double));
    if (slope != nullptr) std::memcpy(slope + i, &by_square, width * sizeof(double));
  }
}

}  // namespace meridian::tune
