// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/eigen.h"

#include <cmath>

namespace meridian::tune {

namespace {

void rotate(Matrix& a, Matrix& v, std::size_t p, std::size_t q) {
  const std::size_t n = a.size();
  if (a.at(p, q) == 0) return;
  const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
  const double t = std::copysign(1 / (std::abs(theta) + std::sqrt(theta * theta + 1)), theta);
  const double c = 1 / std::sqrt(t * t + 1), s = t * c;
  for (std::size_t k = 0; k < n; ++k) {
    const double x = a.at(k, p), y = a.at(k, q);
    a.at(k, p) = c * x - s * y;
    a.at(k, q) = s * x + c * y;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double x = a.at(p, k), y = a.at(q, k);
    a.at(p, k) = c * x - s * y;
    a.at(q, k) = s * x + c * y;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double x = v.at(k, p), y = v.at(k, q);
    v.at(k, p) = c * x - s * y;
    v.at(k, q) = s * x + c * y;
  }
}

}  // namespace

Eigen eigen_of(const Matrix& symmetric) {
  const std::size_t n = symmetric.size();
  Matrix a(n), v(n);
  for (std::size_t i = 0; i < n; ++i) {
    v.at(i, i) = 1;
    for (std::size_t j = 0; j <= i; ++j) a.at(i, j) = a.at(j, i) = symmetric.at(i, j);
  }
  for (int sweep = 0; sweep < 50; ++sweep) {
    double outside = 0, inside = 0;
    for (std::size_t i = 0; i < n; ++i) {
      inside += a.at(i, i) * a.at(i, i);
      for (std::size_t j = 0; j < i; ++j) outside += a.at(i, j) * a.at(i, j);
    }
    if (!(outside > 1e-30 * inside)) break;
    for (std::size_t q = 1; q < n; ++q) {
      for (std::size_t p = 0; p < q; ++p) rotate(a, v, p, q);
    }
  }
  Eigen out{{}, v};
  for (std::size_t i = 0; i < n; ++i) out.values.push_back(a.at(i, i));
  return out;
}

}  // namespace meridian::tune
