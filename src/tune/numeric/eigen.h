// Eigenvalues and eigenvectors of a small symmetric matrix.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tune/numeric/cholesky.h"

namespace meridian::tune {

struct Eigen {
  std::vector<double> values;
  Matrix vectors;  // column k belongs to values[k]; orthonormal
};

// Jacobi's cyclic rotations (1846): O(n³) per sweep, a handful of sweeps; the lower triangle is
// read.
Eigen eigen_of(const Matrix& symmetric);

}  // namespace meridian::tune
