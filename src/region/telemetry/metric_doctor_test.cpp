// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string diagnosis(const std::string& name, const std::string& regex,
                      std::vector<std::string> lines, MetricCounts counts = {}) {
  const std::uint64_t read = lines.size();
  return diagnose({{{{name, regex}, counts}}, read, std::move(lines)}).value_or("healthy");
}

TEST(MetricDoctor, SaysNothingWhenEveryDefinitionMatched) {
  EXPECT_EQ(diagnosis("loss", "loss=(\\d)", {"loss=1"}, MetricCounts{.values = 1}), "healthy");
}

TEST(MetricDoctor, CountsLinesAndShowsTheNearest) {
  const std::string text = diagnosis("validation:loss", "val_loss=([0-9.]+)",
                                     {"starting", "epoch 3 val_loss 0.25", "done"});
  EXPECT_THAT(text, HasSubstr("matched none of 3 lines"));
  EXPECT_THAT(text, HasSubstr("\n    epoch 3 val_loss 0.25"));
  EXPECT_THAT(text, Not(HasSubstr("starting")));
}

TEST(MetricDoctor, NamesTheLikelyCause) {
  EXPECT_THAT(diagnosis("loss", "Loss=([0-9.]+)", {"loss=0.5"}),
              HasSubstr("when upper and lower case are ignored"));
  EXPECT_THAT(diagnosis("loss", "loss=(\\\\d+)", {"loss=5"}), HasSubstr("doubled"));
  EXPECT_THAT(diagnosis("loss", "loss=(\\d+)", {"loss = 5"}), HasSubstr("blanks"));
  EXPECT_THAT(diagnosis("loss", "^loss=(\\d+)$", {"epoch 1 loss=5 end"}), HasSubstr("without ^"));
}

TEST(MetricDoctor, ASilentProgramIsSaidToBeSilent) {
  EXPECT_THAT(diagnosis("loss", "loss=(\\d+)", {}), HasSubstr("printed nothing"));
}

TEST(MetricDoctor, NoLineNearIsSaidToo) {
  EXPECT_THAT(diagnosis("loss", "loss=(\\d+)", {"hello 1", "world 2"}),
              HasSubstr("No line has a word of the regex"));
}

TEST(MetricDoctor, WhatTheMatcherSawComesFirst) {
  const MetricCounts counts{.texts = 2, .text_example = "dog"};
  EXPECT_THAT(diagnosis("cat", "cat=(.*);", {"cat=dog;"}, counts), HasSubstr("took \"dog\""));
  EXPECT_THAT(diagnosis("cat", "cat=(", {"cat=dog;"}), HasSubstr("does not compile"));
}

TEST(MetricDoctor, LinesOfAnyBytesAreShownAsText) {
  const std::string text =
      diagnosis("loss", "loss=(\\d+)", {"loss\t\xff 5" + std::string(500, 'x')});
  EXPECT_THAT(text, HasSubstr("loss#011\xEF\xBF\xBD 5"));
  EXPECT_LT(text.size(), 500u);
}

}  // namespace
}  // namespace meridian::region::telemetry
