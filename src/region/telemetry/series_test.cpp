// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/series.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace meridian::region::telemetry {
namespace {

constexpr base::Timestamp ever{1'000'000'000'000'000};

class SeriesTest : public testing::Test {
 protected:
  std::vector<double> values(const SeriesKey& key) {
    std::vector<double> out;
    for (const auto& point : series.read(key, {0}, ever)) out.push_back(point.sum);
    return out;
  }
  std::filesystem::path only_segment() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
      if (entry.path().extension() == ".points") return entry.path();
    return {};
  }

  base::TempDir directory;
  std::unique_ptr<store::Store> store = store::open_in_memory();
  SeriesStore series{*store, "a/r/metrics/", directory.path()};
  SeriesKey loss{"ns", "loss", {{"TrainingJobName", "job"}}};
};

using Values = std::vector<double>;

TEST_F(SeriesTest, WhatIsWrittenAgainDoesNotDouble) {
  const auto place = series.write(loss, "s", 0, {Point::of({1}, 1), Point::of({2}, 2)});
  EXPECT_EQ(place, 2 * point_bytes);
  series.write(loss, "s", place, {Point::of({3}, 3)});
  series.write(loss, "s", place, {Point::of({3}, 3), Point::of({4}, 4)});
  EXPECT_EQ(values(loss), (Values{1, 2, 3, 4}));
  EXPECT_EQ(series.segment_bytes(loss, "s"), 4 * point_bytes);
}

TEST_F(SeriesTest, SourcesAreReadTogetherByTime) {
  series.write(loss, "algo-1", 0, {Point::of({1}, 1), Point::of({5}, 5)});
  series.write(loss, "algo-2", 0, {Point::of({3}, 3)});
  series.append(loss, {Point::of({4}, 4)});
  EXPECT_EQ(values(loss), (Values{1, 3, 4, 5}));
  EXPECT_EQ(series.read(loss, {3}, {5}).size(), 2u);
}

TEST_F(SeriesTest, ATornEndAndAHoleArePassedOver) {
  series.append(loss, {Point::of({1}, 1), Point::of({2}, 2)});
  std::filesystem::resize_file(only_segment(), 2 * point_bytes - 5);
  EXPECT_EQ(values(loss), (Values{1}));
  series.append(loss, {Point::of({3}, 3)});
  EXPECT_EQ(values(loss), (Values{1, 3}));
  series.write(loss, "s", 3 * point_bytes, {Point::of({9}, 9)});
  EXPECT_EQ(values(loss), (Values{1, 3, 9}));
}

TEST_F(SeriesTest, KeysDifferByEachOfTheirParts) {
  const SeriesKey others[] = {{"ns2", "loss", loss.dimensions},
                              {"ns", "loss2", loss.dimensions},
                              {"ns", "loss", {}},
                              {"ns", "loss", {{"TrainingJobName", "job2"}}}};
  series.append(loss, {Point::of({1}, 1)});
  for (const auto& other : others) EXPECT_EQ(values(other), Values{});
}

TEST_F(SeriesTest, ListsByNamespaceNameAndDimensions) {
  series.append(loss, {Point::of({1}, 1)});
  series.append({"ns", "acc", {{"TrainingJobName", "job"}}}, {Point::of({1}, 1)});
  series.append({"ns", "cpu", {{"Host", "job/algo-1"}}}, {Point::of({1}, 1)});
  EXPECT_EQ(series.list({}, "", 10).series.size(), 3u);
  EXPECT_EQ(series.list({"ns", "loss", {}}, "", 10).series.size(), 1u);
  EXPECT_EQ(series.list({"other", "", {}}, "", 10).series.size(), 0u);
  EXPECT_EQ(series.list({"", "", {{"TrainingJobName", std::nullopt}}}, "", 10).series.size(), 2u);
  EXPECT_EQ(series.list({"", "", {{"Host", "job/algo-1"}}}, "", 10).series.size(), 1u);
  const auto page = series.list({}, "", 2);
  EXPECT_EQ(page.series.size(), 2u);
  EXPECT_EQ(series.list({}, page.next_token, 2).series.size(), 1u);
}

TEST_F(SeriesTest, ANewStoreFindsWhatTheOldOneWrote) {
  series.append(loss, {Point::of({1}, 1)});
  SeriesStore again(*store, "a/r/metrics/", directory.path());
  again.append(loss, {Point::of({2}, 2)});
  EXPECT_EQ(values(loss), (Values{1, 2}));
  EXPECT_EQ(again.list({}, "", 10).series.size(), 1u);
}

}  // namespace
}  // namespace meridian::region::telemetry
