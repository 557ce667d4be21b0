// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tune/numeric/normal.h"
#include "tune/numeric/sobol.h"
#include "tune/numeric/stream.h"

namespace meridian::tune {
namespace {

TEST(Stream, TheSameKeyGivesTheSameNumbers) {
  Stream a({1, 2}), b({1, 2}), c({2, 1}), d({1, 2, 0});
  const std::uint64_t first = a.bits();
  EXPECT_EQ(first, b.bits());
  EXPECT_NE(first, c.bits());
  EXPECT_NE(first, d.bits());
}

TEST(Stream, NeighbouringKeysAreUnrelated) {
  double sum = 0, products = 0, last = 0.5;
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) {
    const double u = Stream({7, static_cast<std::uint64_t>(i)}).uniform();
    sum += u;
    products += (u - 0.5) * (last - 0.5);
    last = u;
  }
  EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  EXPECT_NEAR(products / count, 0, 5 * (1.0 / 12) / std::sqrt(count));
}

TEST(Stream, BelowReachesEveryValueEvenly) {
  Stream stream({3});
  int seen[7] = {};
  for (int i = 0; i < 70'000; ++i) ++seen[stream.below(7)];
  for (const int n : seen) EXPECT_NEAR(n, 10'000, 500);
}

TEST(Stream, NormalHasItsMoments) {
  Stream stream({4});
  double moments[4] = {};
  constexpr int count = 40'000;
  for (int i = 0; i < count; ++i) {
    const double z = stream.normal();
    for (int k = 0; k < 4; ++k) moments[k] += std::pow(z, k + 1) / count;
  }
  EXPECT_NEAR(moments[0], 0, 0.03);
  EXPECT_NEAR(moments[1], 1, 0.05);
  EXPECT_NEAR(moments[2], 0, 0.1);
  EXPECT_NEAR(moments[3], 3, 0.3);
}

TEST(Normal, HasItsTabulatedValues) {
  EXPECT_NEAR(normal_cdf(1.959963984540054), 0.975, 1e-15);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-13);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(log_normal_cdf(-10), -53.23128515051247, 1e-11);  // log 7.619853024160527e-24
  EXPECT_NEAR(log_normal_cdf(-40), -804.6084420137538, 1e-9);
}

TEST(Normal, QuantileInvertsTheDistribution) {
  for (double p = 1e-17; p < 1; p = p * 1.7 + 1e-18) {
    EXPECT_NEAR(log_normal_cdf(normal_quantile(p)), std::log(p),
                1e-12 * std::abs(std::log(p)) + 1e-14)
        << p;
  }
}

TEST(LogH, AgreesWithItsDefinitionWhereThatIsAccurate) {
  for (double z = -6; z < 8; z += 0.01) {
    const double h = normal_pdf(z) + z * normal_cdf(z);
    EXPECT_NEAR(log_h(z).value, std::log(h), 1e-6) << z;
  }
}

TEST(LogH, HasItsAsymptoteFarToTheLeft) {
  // h(z) → pdf(z)/z² (1 - 3/z² + 15/z⁴ - …)
  for (const double z : {-50.0, -1e3, -1e6, -1e100}) {
    const double expected =
        -0.5 * z * z - 0.91893853320467274178 - 2 * std::log(-z) + std::log1p(-3 / (z * z));
    EXPECT_NEAR(log_h(z).value / expected, 1, 1e-8) << z;
    EXPECT_TRUE(std::isfinite(log_h(z).slope)) << z;
  }
}

TEST(LogH, IsContinuousWhereTheFormulaChanges) {
  const LogH left = log_h(-6 - 1e-9), right = log_h(-6 + 1e-9);
  EXPECT_NEAR(left.value, right.value, 1e-6);
  EXPECT_NEAR(left.slope / right.slope, 1, 1e-6);
}

TEST(LogH, ItsSlopeIsItsDerivative) {
  for (double z = -30; z < 10; z += 0.37) {
    const double step = 1e-5;
    const double numeric = (log_h(z + step).value - log_h(z - step).value) / (2 * step);
    EXPECT_NEAR(log_h(z).slope / numeric, 1, 1e-4) << z;
  }
}

TEST(Sobol, EverySliceOfEveryCoordinateHasOnePoint) {
  constexpr std::size_t dimensions = Sobol::table_dimensions, count = 256;
  const Sobol sobol(dimensions, 11);
  std::vector<std::set<int>> slices(dimensions);
  std::vector<double> x(dimensions);
  for (std::size_t i = 0; i < count; ++i) {
    sobol.point(i, x);
    for (std::size_t d = 0; d < dimensions; ++d) {
      ASSERT_GE(x[d], 0);
      ASSERT_LT(x[d], 1);
      slices[d].insert(static_cast<int>(x[d] * count));
    }
  }
  for (const auto& seen : slices) EXPECT_EQ(seen.size(), count);
}

TEST(Sobol, TheFirstTwoCoordinatesAreAPerfectNet) {
  const Sobol sobol(2, 5);
  constexpr int count = 1024;
  for (int bits = 0; bits <= 10; ++bits) {
    std::set<int> boxes;
    for (int i = 0; i < count; ++i) {
      double x[2];
      sobol.point(static_cast<std::uint64_t>(i), x);
      boxes.insert(static_cast<int>(x[0] * (1 << bits)) << 16 |
                   static_cast<int>(x[1] * (1 << (10 - bits))));
    }
    EXPECT_EQ(boxes.size(), static_cast<std::size_t>(count)) << bits;
  }
}

TEST(Sobol, IntegratesBetterThanChance) {
  // The mean of a product of d factors with mean 1 over 1,024 points, as error over 20 seeds.
  constexpr std::size_t dimensions = 10, count = 1024;
  double by_sobol = 0, by_chance = 0;
  std::vector<double> x(dimensions);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sobol sobol(dimensions, seed);
    Stream stream({seed});
    double sums[2] = {};
    for (std::size_t i = 0; i < count; ++i) {
      double products[2] = {1, 1};
      sobol.point(i, x);
      for (std::size_t d = 0; d < dimensions; ++d) {
        products[0] *= 1 + 0.5 * (x[d] - 0.5);
        products[1] *= 1 + 0.5 * (stream.uniform() - 0.5);
      }
      for (int k = 0; k < 2; ++k) sums[k] += products[k] / count;
    }
    by_sobol += std::pow(sums[0] - 1, 2);
    by_chance += std::pow(sums[1] - 1, 2);
  }
  EXPECT_LT(by_sobol, 0.02 * by_chance);
}

TEST(Sobol, OnePointIsUniformOverSeeds) {
  int cells[16] = {};
  for (std::uint64_t seed = 0; seed < 16'000; ++seed) {
    double x[3];
    Sobol(3, seed).point(0, x);
    ++cells[static_cast<int>(x[2] * 16)];
  }
  for (const int n : cells) EXPECT_NEAR(n, 1000, 160);
}

}  // namespace
}  // namespace meridian::tune
