// Positive definite matrices: factor, grow, solve, invert.
//
//   Cholesky factor;
//   if (!factor.assign(matrix)) …        // not positive definite
//   factor.append(row);                  // one more row and column, O(n²)
//   factor.solve_lower(x);               // x ← L⁻¹ x
//
// Everything is row by row over contiguous memory in a fixed order of operations, so that a matrix
// that was grown row by row has the same bits as one that was factored at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace meridian::tune {

// n × n, row-major.
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}
  std::size_t size() const { return size_; }
  double* row(std::size_t i) { return values_.data() + i * size_; }
  const double* row(std::size_t i) const { return values_.data() + i * size_; }
  double& at(std::size_t i, std::size_t j) { return values_[i * size_ + j]; }
  double at(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }

 private:
  std::size_t size_ = 0;
  std::vector<double> values_;
};

double dot(const double* a, const double* b, std::size_t n);

class Cholesky {
 public:
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

  // Factors the lower triangle of `matrix`. False (and the factor is cleared) when a pivot is not
  // larger than 1e-14 of its diagonal element: add noise to the diagonal and try again.
  bool assign(const Matrix& matrix);

  // Adds row n of the lower triangle: n off-diagonal elements, then the diagonal one. False leaves
  // the factor as it was.
  bool append(std::span<const double> row);

  double log_determinant() const;  // of L Lᵀ

  void solve_lower(double* x) const;             // x ← L⁻¹ x
  void solve_lower_transposed(double* x) const;  // x ← L⁻ᵀ x
  void solve(double* x) const;                   // x ← (L Lᵀ)⁻¹ x
  // Several right-hand sides, each contiguous with n values, `stride` apart: x_k ← L⁻¹ x_k. Faster
  // than one by one, with the same bits.
  void solve_lower_many(double* x, std::size_t count, std::size_t stride) const;

  // The lower triangle of (L Lᵀ)⁻¹; the upper one is left at zero.
  void inverse(Matrix& out) const;

 private:
  const double* row(std::size_t i) const { return values_.data() + i * stride_; }
  double* row(std::size_t i) { return values_.data() + i * stride_; }
  void reserve(std::size_t size);

  std::size_t size_ = 0;
  std::size_t stride_ = 0;
  std::vector<double> values_;  // rows of L, `stride_` apart
};

}  // namespace meridian::tune
