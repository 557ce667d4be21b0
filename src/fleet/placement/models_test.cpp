// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fleet/placement/spot.h"
#include "fleet/placement/throughput.h"

namespace meridian::fleet::placement {
namespace {

TEST(Spot, WithoutReclaimsWorkTakesAsLongAsItIs) {
  EXPECT_EQ(expected_hours(10, 0, {}), 10);
  EXPECT_NEAR(expected_hours(10, 1e-9, {.every_hours = 0.5, .write_hours = 0}), 10, 1e-6);
}

TEST(Spot, ExpectedTimeIsTheMeanOfManyRuns) {
  const Checkpoints c{.every_hours = 0.5, .write_hours = 0.05, .restart_hours = 0.2};
  const double rate = 0.4, work = 5;
  std::mt19937_64 engine(7);
  std::exponential_distribution<double> next(rate);
  double sum = 0;
  constexpr int kRuns = 20'000;
  for (int run = 0; run < kRuns; ++run) {
    for (int segment = 0; segment < 10; ++segment) {
      double wanted = c.every_hours + c.write_hours;  // of uninterrupted time
      for (double until = next(engine); until < wanted; until = next(engine)) {
        sum += until;
        // A restart that is interrupted begins again.
        for (until = next(engine); until < c.restart_hours; until = next(engine)) sum += until;
        sum += c.restart_hours;
      }
      sum += wanted;
    }
  }
  EXPECT_NEAR(expected_hours(work, rate, c), sum / kRuns, 0.02 * sum / kRuns);
}

TEST(Spot, MoreReclaimsNeverTakeLess) {
  double before = 0;
  for (double rate = 0; rate < 50; rate += 0.5) {
    const double hours = expected_hours(3, rate, {});
    EXPECT_GE(hours, before);
    before = hours;
  }
  EXPECT_TRUE(std::isinf(expected_hours(3, 1e6, {})));
}

TEST(Throughput, TheCheaperReductionCounts) {
  const StepModel small{.images_per_second = 100, .batch = 100, .gradient_megabytes = 0.001};
  const StepModel large{.images_per_second = 100, .batch = 100, .gradient_megabytes = 100};
  EXPECT_DOUBLE_EQ(allreduce_seconds(1, large), 0);
  EXPECT_DOUBLE_EQ(allreduce_seconds(8, small), 3 * (5e-5 + 1e-6));       // doubling
  EXPECT_DOUBLE_EQ(allreduce_seconds(8, large), 14 * 5e-5 + 1.75 * 0.1);  // ring
}

TEST(Throughput, OneInstanceGoesAtItsOwnRate) {
  const StepModel model{.images_per_second = 1'200, .batch = 256, .gradient_megabytes = 100};
  EXPECT_DOUBLE_EQ(model_rate(1, model), 1'200);
  EXPECT_LT(model_rate(8, model), 8 * 1'200);
  EXPECT_GT(model_rate(8, model), model_rate(4, model));
}

TEST(Throughput, WhatWasMeasuredGoesBeforeTheModel) {
  const std::vector<Measured> history{{"ml.a", 2, 500}, {"ml.a", 2, 550}, {"ml.b", 2, 900}};
  const StepModel model{.images_per_second = 300, .batch = 64};
  EXPECT_EQ(predict(history, &model, "ml.a", 2)->images_per_second, 550);
  EXPECT_EQ(predict(history, &model, "ml.a", 4)->source, Prediction::Source::model);
  EXPECT_FALSE(predict(history, nullptr, "ml.a", 4));
}

}  // namespace
}  // namespace meridian::fleet::placement
