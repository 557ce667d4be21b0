// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tune/numeric/cholesky.h"
#include "tune/numeric/eigen.h"
#include "tune/numeric/minimize.h"
#include "tune/numeric/stream.h"

namespace meridian::tune {
namespace {

// A Aᵀ + n I: positive definite.
Matrix positive_definite(std::size_t n, std::uint64_t seed) {
  Stream stream({seed});
  Matrix a(n), out(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) a.at(i, j) = stream.normal();
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      out.at(i, j) = dot(a.row(i), a.row(j), n) + (i == j ? double(n) : 0.0);
  }
  return out;
}

TEST(Cholesky, SolvesWhatItFactored) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 31, 64, 101}) {
    const Matrix a = positive_definite(n, n);
    Cholesky factor;
    ASSERT_TRUE(factor.assign(a));
    Stream stream({n, 1});
    std::vector<double> x(n), b(n);
    for (double& v : x) v = stream.normal();
    for (std::size_t i = 0; i < n; ++i) b[i] = dot(a.row(i), x.data(), n);
    factor.solve(b.data());
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(b[i], x[i], 1e-10);
  }
}

TEST(Cholesky, InvertsWhatItFactored) {
  for (const std::size_t n : {1, 3, 4, 6, 9, 50}) {
    const Matrix a = positive_definite(n, n);
    Cholesky factor;
    ASSERT_TRUE(factor.assign(a));
    Matrix inverse;
    factor.inverse(inverse);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k)
          sum += a.at(i, k) * inverse.at(std::max(k, j), std::min(k, j));
        EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-10);
      }
    }
  }
}

TEST(Cholesky, GrownRowByRowHasTheSameBits) {
  const std::size_t n = 37;
  const Matrix a = positive_definite(n, 2);
  Cholesky whole, grown;
  ASSERT_TRUE(whole.assign(a));
  for (std::size_t i = 0; i < n; ++i) ASSERT_TRUE(grown.append({a.row(i), i + 1}));
  std::vector<double> x(n, 1), y(n, 1);
  whole.solve(x.data());
  grown.solve(y.data());
  EXPECT_EQ(x, y);
  EXPECT_EQ(whole.log_determinant(), grown.log_determinant());
}

TEST(Cholesky, ManySidesHaveTheBitsOfOne) {
  const std::size_t n = 23;
  Cholesky factor;
  ASSERT_TRUE(factor.assign(positive_definite(n, 3)));
  std::vector<double> many(6 * n);
  Stream stream({9});
  for (double& v : many) v = stream.normal();
  std::vector<double> single = many;
  factor.solve_lower_many(many.data(), 6, n);
  for (std::size_t k = 0; k < 6; ++k) factor.solve_lower(single.data() + k * n);
  EXPECT_EQ(many, single);
}

TEST(Cholesky, TheDeterminantOfADiagonalIsItsProduct) {
  Matrix a(3);
  a.at(0, 0) = 2;
  a.at(1, 1) = 3;
  a.at(2, 2) = 5;
  Cholesky factor;
  ASSERT_TRUE(factor.assign(a));
  EXPECT_NEAR(factor.log_determinant(), std::log(30.0), 1e-14);
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  Matrix a(2);
  a.at(0, 0) = a.at(1, 1) = 1;
  a.at(1, 0) = a.at(0, 1) = 1;
  Cholesky factor;
  EXPECT_FALSE(factor.assign(a));
  EXPECT_EQ(factor.size(), 0u);
  const double first[] = {1}, twin[] = {1, 1}, other[] = {0.5, 1};
  ASSERT_TRUE(factor.append(first));
  EXPECT_FALSE(factor.append(twin));
  EXPECT_EQ(factor.size(), 1u);
  EXPECT_TRUE(factor.append(other));
}

TEST(Eigen, VectorsAndValuesGiveTheMatrixBack) {
  for (const std::size_t n : {1, 2, 5, 12}) {
    const Matrix a = positive_definite(n, n + 100);
    const Eigen eigen = eigen_of(a);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0, product = 0;
        for (std::size_t k = 0; k < n; ++k) {
          sum += eigen.vectors.at(i, k) * eigen.values[k] * eigen.vectors.at(j, k);
          product += eigen.vectors.at(k, i) * eigen.vectors.at(k, j);
        }
        EXPECT_NEAR(sum, a.at(i, j), 1e-10);
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-12);
      }
    }
  }
}

double rosenbrock(std::span<const double> x, std::span<double> g) {
  double sum = 0;
  std::fill(g.begin(), g.end(), 0.0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
    sum += 100 * a * a + b * b;
    g[i] += -400 * a * x[i] - 2 * b;
    g[i + 1] += 200 * a;
  }
  return sum;
}

TEST(Minimize, FindsTheEndOfACurvedValley) {
  const std::vector<double> start{-1.2, 1, -1.2, 1}, lower(4, -5), upper(4, 5);
  const Minimum end =
      minimize_in_box(start, lower, upper, rosenbrock, {.evaluations = 500, .value_tolerance = 0});
  EXPECT_LT(end.value, 1e-9);
  for (const double v : end.x) EXPECT_NEAR(v, 1, 1e-4);
}

TEST(Minimize, StopsAtTheWallThatTheMinimumLiesBehind) {
  // (x - 3)² + (y + 0.5)² + x y in [0, 1]²: at x = 1, y = 0.
  const auto f = [](std::span<const double> x, std::span<double> g) {
    g[0] = 2 * (x[0] - 3) + x[1];
    g[1] = 2 * (x[1] + 0.5) + x[0];
    return (x[0] - 3) * (x[0] - 3) + (x[1] + 0.5) * (x[1] + 0.5) + x[0] * x[1];
  };
  const std::vector<double> start{0.3, 0.8}, lower{0, 0}, upper{1, 1};
  const Minimum end = minimize_in_box(start, lower, upper, f);
  EXPECT_EQ(end.x, (std::vector<double>{1, 0}));
}

TEST(Minimize, NeverLeavesTheBoxNorEndsWorse) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stream stream({seed});
    std::vector<double> lower(3), upper(3), start(3);
    for (int i = 0; i < 3; ++i) {
      lower[i] = stream.uniform(-2, 1);
      upper[i] = lower[i] + stream.uniform();
      start[i] = stream.uniform(lower[i], upper[i]);
    }
    int calls = 0;
    double first = 0;
    const auto f = [&](std::span<const double> x, std::span<double> g) {
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(x[i] >= lower[i] && x[i] <= upper[i]);
      const double value = rosenbrock(x, g);
      if (calls++ == 0) first = value;
      return value;
    };
    const Minimum end = minimize_in_box(start, lower, upper, f, {.evaluations = 60});
    EXPECT_LE(end.value, first);
    EXPECT_LE(calls, 60);
    EXPECT_EQ(calls, end.evaluations);
  }
}

TEST(Minimize, BacksOffFromValuesThatAreNotFinite) {
  const auto f = [](std::span<const double> x, std::span<double> g) {
    g[0] = 1 - 1 / x[0];
    return x[0] - std::log(x[0]);  // not a number left of zero
  };
  const std::vector<double> start{3}, lower{-10}, upper{10};
  EXPECT_NEAR(minimize_in_box(start, lower, upper, f, {.first_step = 8}).x[0], 1, 1e-5);
}

}  // namespace
}  // namespace meridian::tune
