// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tune/numeric/lanes.h"

namespace meridian::tune {

namespace {

MERIDIAN_INLINE void load(Four& to, const double* from) { std::memcpy(&to, from, sizeof to); }

// Dot products of one row with four others.
MERIDIAN_INLINE void dot_four(const double* row, const double* const* x, std::size_t n,
                              double* out) {
  Four sum[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Four a;
    load(a, row + i);
    for (int k = 0; k < 4; ++k) {
      Four b;
      load(b, x[k] + i);
      sum[k] += a * b;
    }
  }
  for (int k = 0; k < 4; ++k) {
    double rest = 0;
    for (std::size_t j = i; j < n; ++j) rest += row[j] * x[k][j];
    out[k] = ((sum[k][0] + sum[k][1]) + (sum[k][2] + sum[k][3])) + rest;
  }
}

MERIDIAN_INLINE double dot_two(const double* a, const double* b, std::size_t n) {
  Four sum = {};
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Four x, y;
    load(x, a + i);
    load(y, b + i);
    sum += x * y;
  }
  double rest = 0;
  for (; i < n; ++i) rest += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

}  // namespace

MERIDIAN_WIDE double dot(const double* a, const double* b, std::size_t n) {
  return dot_two(a, b, n);
}

void Cholesky::reserve(std::size_t size) {
  if (size <= stride_) return;
  const std::size_t stride = std::max<std::size_t>(size + size / 2, 16);
  std::vector<double> values(stride * stride);
  for (std::size_t i = 0; i < size_; ++i) std::copy_n(row(i), i + 1, values.data() + i * stride);
  values_.swap(values);
  stride_ = stride;
}

bool Cholesky::append(std::span<const double> new_row) {
  const std::size_t n = size_;
  reserve(n + 1);
  double* x = row(n);
  std::copy_n(new_row.data(), n, x);
  solve_lower(x);
  const double pivot = new_row[n] - dot_two(x, x, n);
  if (!(pivot > 1e-14 * new_row[n])) return false;
  x[n] = std::sqrt(pivot);
  ++size_;
  return true;
}

MERIDIAN_WIDE bool Cholesky::assign(const Matrix& matrix) {
  size_ = 0;
  reserve(matrix.size());
  const std::size_t n = matrix.size();
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    // Four rows against the finished ones together, then among themselves one by one.
    double* rows[4];
    for (std::size_t k = 0; k < 4; ++k) {
      rows[k] = row(i + k);
      std::copy_n(matrix.row(i + k), i + k, rows[k]);
    }
    solve_lower_many(rows[0], 4, stride_);
    for (std::size_t k = 0; k < 4; ++k) {
      double* x = rows[k];
      for (std::size_t j = i; j < i + k; ++j) x[j] = (x[j] - dot_two(row(j), x, j)) / row(j)[j];
      const double diagonal = matrix.at(i + k, i + k);
      const double pivot = diagonal - dot_two(x, x, i + k);
      if (!(pivot > 1e-14 * diagonal)) {
        size_ = 0;
        return false;
      }
      x[i + k] = std::sqrt(pivot);
    }
    size_ = i + 4;
  }
  for (; i < n; ++i) {
    if (!append({matrix.row(i), i + 1})) {
      size_ = 0;
      return false;
    }
  }
  return true;
}

double Cholesky::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) sum += std::log(row(i)[i]);
  return 2 * sum;
}

MERIDIAN_WIDE void Cholesky::solve_lower(double* x) const {
  for (std::size_t i = 0; i < size_; ++i) x[i] = (x[i] - dot_two(row(i), x, i)) / row(i)[i];
}

MERIDIAN_WIDE void Cholesky::solve_lower_transposed(double* x) const {
  for (std::size_t i = size_; i-- > 0;) {
    const double* l = row(i);
    const double value = x[i] /= l[i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= l[j] * value;
  }
}

void Cholesky::solve(double* x) const {
  solve_lower(x);
  solve_lower_transposed(x);
}

MERIDIAN_WIDE void Cholesky::solve_lower_many(double* x, std::size_t count,
                                              std::size_t stride) const {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    double* columns[4];
    for (std::size_t c = 0; c < 4; ++c) columns[c] = x + (k + c) * stride;
    for (std::size_t i = 0; i < size_; ++i) {
      const double* l = row(i);
      double products[4];
      dot_four(l, columns, i, products);
      for (int c = 0; c < 4; ++c) columns[c][i] = (columns[c][i] - products[c]) / l[i];
    }
  }
  for (; k < count; ++k) solve_lower(x + k * stride);
}

MERIDIAN_WIDE void Cholesky::inverse(Matrix& out) const {
  const std::size_t n = size_;
  if (out.size() != n) out = Matrix(n);
  // Row a of v is column a of L⁻¹ (zero before a): forward substitution from a on. Four columns
  // share the rows of L.
  Matrix v(n);
  for (std::size_t a = 0; a < n; a += 4) {
    const std::size_t count = std::min<std::size_t>(4, n - a);
    double* columns[4] = {v.row(a), v.row(a), v.row(a), v.row(a)};
    const double* tails[4];
    for (std::size_t c = 0; c < count; ++c) columns[c] = v.row(a + c);
    for (int c = 0; c < 4; ++c) tails[c] = columns[c] + a;
    for (std::size_t c = 0; c < count; ++c) columns[c][a + c] = 1;
    for (std::size_t i = a; i < n; ++i) {
      double products[4];
      dot_four(row(i) + a, tails, i - a, products);
      for (std::size_t c = 0; c < count && a + c <= i; ++c) {
        columns[c][i] = (columns[c][i] - products[c]) / row(i)[i];
      }
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    std::size_t b = 0;
    for (; b + 4 <= a + 1; b += 4) {
      const double* x[4] = {v.row(b) + a, v.row(b + 1) + a, v.row(b + 2) + a, v.row(b + 3) + a};
      dot_four(v.row(a) + a, x, n - a, out.row(a) + b);
    }
    for (; b <= a; ++b) out.at(a, b) = dot_two(v.row(a) + a, v.row(b) + a, n - a);
  }
}

}  // namespace meridian::tune
