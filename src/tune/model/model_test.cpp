// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tune/model/fit.h"
#include "tune/model/gaussian_process.h"
#include "tune/model/matern.h"
#include "tune/model/warp.h"
#include "tune/numeric/stream.h"

namespace meridian::tune {
namespace {

Rows random_rows(std::size_t count, const Layout& layout, Stream& stream) {
  Rows rows{layout.size(), {}};
  for (std::size_t i = 0; i < count; ++i) {
    for (const Coordinate kind : layout) {
      rows.values.push_back(kind == Coordinate::category ? static_cast<double>(stream.below(3))
                                                         : stream.uniform());
    }
  }
  return rows;
}

const Layout mixed_layout = {Coordinate::number, Coordinate::number, Coordinate::category};

double smooth(std::span<const double> x) {
  double sum = 0;
  for (std::size_t d = 0; d < x.size(); ++d)
    sum += std::sin(3 * x[d] + static_cast<double>(d)) * (1 + 0.5 * x[0]);
  return sum;
}

std::vector<double> values_of(const Rows& rows) {
  std::vector<double> y;
  for (std::size_t i = 0; i < rows.size(); ++i) y.push_back(smooth(rows.row(i)));
  return y;
}

double k(double distance, double length) {
  const double r = std::sqrt(5.0) * std::abs(distance) / length;
  return (1 + r + r * r / 3) * std::exp(-r);
}

TEST(Matern, AgreesWithItsFormula) {
  for (double r2 = 0; r2 < 2000; r2 = r2 * 1.1 + 1e-9) {
    double value = 0, slope = 0;
    matern(&r2, 1, &value, &slope);
    const double r = std::sqrt(5 * r2), decay = std::exp(-r);
    EXPECT_NEAR(value / ((1 + r + r * r / 3) * decay), 1, 2e-14) << r2;
    EXPECT_NEAR(slope / (5.0 / 3 * (1 + r) * decay), 1, 2e-14) << r2;
  }
  const double far = 1e300;
  double value = 1;
  matern(&far, 1, &value, nullptr);
  EXPECT_NEAR(value, 0, 1e-200);
}

TEST(Matern, ManyDistancesHaveTheBitsOfOne) {
  Stream stream({1});
  std::vector<double> r2(11), many(11);
  for (double& v : r2) v = stream.uniform() * 5;
  matern(r2.data(), r2.size(), many.data(), nullptr);
  for (std::size_t i = 0; i < r2.size(); ++i) {
    double one = 0;
    matern(&r2[i], 1, &one, nullptr);
    EXPECT_EQ(one, many[i]);
  }
}

TEST(GaussianProcess, WithTwoObservationsItIsTheClosedForm) {
  const double length = 0.7, signal = 2, noise = 0.1, a = 0.2, b = 0.9, at = 0.4;
  const double y[] = {1.0, -0.5};
  const GaussianProcess model({Coordinate::number}, {{length}, signal, noise}, {1, {a, b}}, y);
  const double diagonal = signal + noise, off = signal * k(a - b, length);
  const double determinant = diagonal * diagonal - off * off;
  const auto inverse_times = [&](double u, double v) {
    return std::pair((diagonal * u - off * v) / determinant,
                     (diagonal * v - off * u) / determinant);
  };
  const auto [p, q] = inverse_times(1, 1);
  const double level = (p * y[0] + q * y[1]) / (p + q);
  const auto [w0, w1] = inverse_times(y[0] - level, y[1] - level);
  const double ka = signal * k(at - a, length), kb = signal * k(at - b, length);
  const auto [v0, v1] = inverse_times(ka, kb);
  const double missing = 1 - (p * ka + q * kb);
  const Prediction prediction = model.predict(std::vector<double>{at});
  EXPECT_NEAR(model.level(), level, 1e-12);
  EXPECT_NEAR(prediction.mean, level + ka * w0 + kb * w1, 1e-12);
  EXPECT_NEAR(prediction.variance, signal - (ka * v0 + kb * v1) + missing * missing / (p + q),
              1e-12);
  const double squares = (y[0] - level) * w0 + (y[1] - level) * w1;
  EXPECT_NEAR(model.log_likelihood(),
              -0.5 * (squares + std::log(determinant) + 2 * std::log(2 * M_PI)), 1e-12);
}

TEST(GaussianProcess, WithoutNoiseItPassesThroughItsObservations) {
  Stream stream({2});
  const Rows rows = random_rows(25, mixed_layout, stream);
  const auto y = values_of(rows);
  const GaussianProcess model(mixed_layout, {{0.5, 0.5, 1}, 1, 1e-10}, rows, y);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Prediction p = model.predict(rows.row(i));
    EXPECT_NEAR(p.mean, y[i], 1e-6);
    EXPECT_NEAR(p.variance, 0, 1e-6);
    EXPECT_NEAR(model.mean_at(i), p.mean, 1e-9);
  }
}

TEST(GaussianProcess, ItsSlopesAreDerivatives) {
  Stream stream({3});
  const Rows rows = random_rows(15, mixed_layout, stream);
  const GaussianProcess model(mixed_layout, {{0.4, 0.8, 1}, 1.5, 1e-3}, rows, values_of(rows));
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> x{stream.uniform(), stream.uniform(), static_cast<double>(stream.below(3))};
    Slopes slopes;
    const Prediction here = model.predict(x, slopes);
    EXPECT_EQ(here.mean, model.predict(x).mean);
    for (std::size_t d = 0; d < 2; ++d) {
      const double step = 1e-6, at = x[d];
      x[d] = at + step;
      const Prediction up = model.predict(x);
      x[d] = at - step;
      const Prediction down = model.predict(x);
      x[d] = at;
      EXPECT_NEAR(slopes.mean[d], (up.mean - down.mean) / (2 * step), 1e-6);
      EXPECT_NEAR(slopes.variance[d], (up.variance - down.variance) / (2 * step), 1e-6);
    }
    EXPECT_EQ(slopes.mean[2], 0);
  }
}

TEST(GaussianProcess, ManyPointsHaveTheBitsOfOne) {
  Stream stream({4});
  const Rows rows = random_rows(13, mixed_layout, stream),
             points = random_rows(9, mixed_layout, stream);
  const GaussianProcess model(mixed_layout, {{0.4, 0.8, 1}, 1, 1e-4}, rows, values_of(rows));
  const auto many = model.predict(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Prediction one = model.predict(points.row(i));
    EXPECT_EQ(one.mean, many[i].mean);
    EXPECT_EQ(one.variance, many[i].variance);
  }
}

TEST(GaussianProcess, WhatIsImaginedLeavesMeansAndTakesDoubt) {
  Stream stream({5});
  const Rows rows = random_rows(10, mixed_layout, stream),
             points = random_rows(20, mixed_layout, stream);
  GaussianProcess model(mixed_layout, {{0.4, 0.8, 1}, 1, 1e-6}, rows, values_of(rows));
  const auto before = model.predict(points);
  model.imagine(points.row(0));
  model.imagine(points.row(0));  // a twin does no harm
  const auto after = model.predict(points);
  EXPECT_LT(after[0].variance, 1e-5);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(after[i].mean, before[i].mean, 1e-9);
    EXPECT_LE(after[i].variance, before[i].variance + 1e-12);
  }
}

TEST(GaussianProcess, TheOrderOfCategoriesDoesNotMatter) {
  Stream stream({6});
  const Rows rows = random_rows(20, mixed_layout, stream);
  const auto y = values_of(rows);
  const auto permuted = [](Rows r) {
    for (std::size_t i = 2; i < r.values.size(); i += 3)
      r.values[i] = std::array{2.0, 0.0, 1.0}[static_cast<std::size_t>(r.values[i])];
    return r;
  };
  const KernelParameters a = fit(mixed_layout, rows, y), b = fit(mixed_layout, permuted(rows), y);
  EXPECT_EQ(a.length, b.length);
  const Rows points = random_rows(5, mixed_layout, stream);
  const auto p = GaussianProcess(mixed_layout, a, rows, y).predict(points);
  const auto q = GaussianProcess(mixed_layout, b, permuted(rows), y).predict(permuted(points));
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(p[i].mean, q[i].mean);
}

TEST(GaussianProcess, EqualRowsDoNotBreakIt) {
  const Rows rows{1, {0.5, 0.5, 0.5, 0.2}};
  const double y[] = {1, 2, 3, 0};
  const GaussianProcess model({Coordinate::number}, {{1}, 1, 0}, rows, y);
  EXPECT_NEAR(model.predict(std::vector<double>{0.5}).mean, 2, 0.01);
}

TEST(Fit, ItsGradientIsItsDerivative) {
  Stream stream({7});
  const Rows rows = random_rows(18, mixed_layout, stream);
  const Posterior posterior(mixed_layout, rows, values_of(rows), {});
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<double> logs(posterior.size()), gradient(posterior.size()),
        unused(posterior.size());
    for (double& v : logs) v = stream.uniform(-1, 1);
    logs.back() = stream.uniform(-6, -1);
    posterior(logs, gradient);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double step = 1e-5, at = logs[i];
      logs[i] = at + step;
      const double up = posterior(logs, unused);
      logs[i] = at - step;
      const double down = posterior(logs, unused);
      logs[i] = at;
      EXPECT_NEAR(gradient[i], (up - down) / (2 * step), 1e-4 * (1 + std::abs(gradient[i])));
    }
  }
}

// A draw from the prior at these rows.
std::vector<double> draw(const Layout& layout, const KernelParameters& parameters, const Rows& rows,
                         Stream& stream) {
  std::vector<double> inverse_squares, out(rows.size()), z(rows.size());
  for (const double l : parameters.length) inverse_squares.push_back(1 / (l * l));
  Matrix a(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    squared_distances(layout, inverse_squares, rows, rows.row(i), a.row(i));
    matern(a.row(i), rows.size(), a.row(i), nullptr);
    a.at(i, i) += parameters.noise;
    z[i] = stream.normal();
  }
  // Row by row, x = L z: the factor of a grown matrix gives it by solving backwards.
  Matrix l(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double rest = a.at(i, j) - dot(l.row(i), l.row(j), j);
      l.at(i, j) = i == j ? std::sqrt(rest) : rest / l.at(j, j);
    }
    out[i] = dot(l.row(i), z.data(), i + 1);
  }
  return out;
}

struct Coverage {
  double half = 0, most = 0;  // shares of held-out values in the central 50 % and 95 % intervals
};

// Over functions drawn from the prior: 30 observations each, 30 values held out.
template <class F>
Coverage coverage(F parameters_of) {
  const Layout layout = {Coordinate::number, Coordinate::number};
  Coverage out;
  constexpr int functions = 40;
  for (std::uint64_t seed = 0; seed < functions; ++seed) {
    Stream stream({seed, 8});
    const KernelParameters truth{{stream.uniform(0.2, 0.8), stream.uniform(0.2, 0.8)}, 1, 1e-6};
    const Rows all = random_rows(60, layout, stream);
    const auto values = draw(layout, truth, all, stream);
    const Rows rows{2, {all.values.begin(), all.values.begin() + 60}};
    const std::vector<double> y(values.begin(), values.begin() + 30);
    const GaussianProcess model(layout, parameters_of(layout, rows, y, truth), rows, y);
    for (std::size_t i = 30; i < 60; ++i) {
      const Prediction p = model.predict(all.row(i));
      const double z = std::abs(values[i] - p.mean) / std::sqrt(p.variance + 1e-9);
      out.half += (z < 0.67449 ? 1.0 : 0.0) / (30 * functions);
      out.most += (z < 1.95996 ? 1.0 : 0.0) / (30 * functions);
    }
  }
  return out;
}

TEST(GaussianProcess, ItsIntervalsHoldWhatTheyPromise) {
  const Coverage c =
      coverage([](auto&, auto&, auto&, const KernelParameters& truth) { return truth; });
  EXPECT_NEAR(c.half, 0.5, 0.05);
  EXPECT_NEAR(c.most, 0.95, 0.02);
}

TEST(Fit, IntervalsOfFittedParametersAreALittleNarrow) {
  // The fit is taken for certain, which it is not with 30 observations: 95 % intervals hold about
  // 90 %.
  const Coverage c =
      coverage([](auto& layout, auto& rows, auto& y, auto&) { return fit(layout, rows, y); });
  EXPECT_NEAR(c.half, 0.45, 0.07);
  EXPECT_NEAR(c.most, 0.91, 0.04);
}

TEST(Fit, FindsNoiseWhereThereIsSome) {
  Stream stream({9});
  const Layout layout = {Coordinate::number};
  const Rows rows = random_rows(60, layout, stream);
  std::vector<double> clean, noisy;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    clean.push_back(std::sin(6 * rows.row(i)[0]));
    noisy.push_back(clean.back() + 0.3 * stream.normal());
  }
  EXPECT_LT(fit(layout, rows, clean).noise, 1e-4);
  EXPECT_NEAR(std::sqrt(fit(layout, rows, noisy).noise), 0.3, 0.1);
}

TEST(Fit, GivesACoordinateThatDoesNotMatterALongScale) {
  Stream stream({10});
  const Layout layout = {Coordinate::number, Coordinate::number};
  const Rows rows = random_rows(40, layout, stream);
  std::vector<double> y;
  for (std::size_t i = 0; i < rows.size(); ++i) y.push_back(std::sin(8 * rows.row(i)[0]));
  const KernelParameters p = fit(layout, rows, y);
  EXPECT_GT(p.length[1], 5 * p.length[0]);
}

TEST(Warp, KeepsOrderAndForgetsUnits) {
  Stream stream({11});
  std::vector<double> y, other;
  for (int i = 0; i < 40; ++i) y.push_back(std::exp(3 * stream.normal()));
  for (const double v : y) other.push_back(1000 * v - 7);
  const Warp a(y), b(other);
  double mean = 0, squares = 0;
  for (const double v : y) {
    EXPECT_NEAR(a(v), b(1000 * v - 7), 1e-6);
    EXPECT_LT(a(v), a(v * 1.01));
    mean += a(v) / 40;
    squares += a(v) * a(v) / 40;
  }
  EXPECT_NEAR(mean, 0, 1e-9);
  EXPECT_NEAR(squares, 1, 1e-9);
  EXPECT_LT(a.exponent(), 0);  // the long tail is pulled in
}

TEST(Warp, LeavesEvenValuesNearlyAsTheyAre) {
  std::vector<double> y;
  for (int i = 0; i <= 100; ++i) y.push_back(i);
  const Warp warp(y);
  EXPECT_NEAR(warp(75) - warp(50), warp(50) - warp(25), 0.2);
}

TEST(Warp, BearsValuesThatOverflow) {
  for (const std::vector<double>& y :
       std::vector<std::vector<double>>{{1e308, -1e308, 0},
                                        {5},
                                        {3, 3, 3},
                                        {1, 2, 3, 1e308},
                                        {-1.7e308, 1.7e308, -1.7e308, 1.7e308},
                                        {0, 5e-324}}) {
    const Warp warp(y);
    for (const double v : y) EXPECT_TRUE(std::isfinite(warp(v))) << v;
  }
}

}  // namespace
}  // namespace meridian::tune
