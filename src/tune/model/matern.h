// The Matérn-5/2 correlation of many distances at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace meridian::tune {

// Per squared distance r²: value = (1 + √5 r + 5/3 r²) exp(-√5 r) and slope = -2 d value / d(r²) =
// 5/3 (1 + √5 r) exp(-√5 r). Either output may be null. Relative error below 1e-14, with an
// exponential of our own: the same bits whatever the C library. `value` may be `squared_distances`.
void matern(const double* squared_distances, std::size_t count, double* value, double* slope);

}  // namespace meridian::tune
