// What is past its retention is gone, and nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "region/telemetry/test_region.h"

namespace meridian::region::telemetry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::Duration kDay{86'400'000};

class Retention : public TestRegion {
 protected:
  std::vector<std::string> messages(const std::string& group, const std::string& stream,
                                    bool from_head = true) {
    const base::Json page =
        logs("GetLogEvents",
             {{"logGroupName", group}, {"logStreamName", stream}, {"startFromHead", from_head}});
    std::vector<std::string> all;
    for (const auto& event : page.at("events").as_array())
      all.push_back(base::string_or(event, "message"));
    return all;
  }
  void keep_for(const std::string& group, int days) {
    logs("PutRetentionPolicy", {{"logGroupName", group}, {"retentionInDays", days}});
  }
};

TEST_F(Retention, EventsPastItAreGoneAndTheirSpaceIsFree) {
  const std::string long_line(200'000, 'x');
  telemetry->log("g", "s", long_line);
  telemetry->log("g", "other", "stays: its group has no retention");
  clock.advance(kDay);
  telemetry->log("g", "s", "new");
  telemetry->log("kept", "s", "old");
  keep_for("g", 3);
  telemetry->expire({});
  EXPECT_THAT(messages("g", "s"), ElementsAre(long_line, "new"));
  clock.advance(2 * kDay + base::Duration(1));
  telemetry->expire({});
  for (const bool from_head : {true, false})
    EXPECT_THAT(messages("g", "s", from_head), ElementsAre("new"));
  struct stat info{};
  ASSERT_EQ(stat(telemetry->log_file("g", "s").c_str(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 100'000);
  clock.advance(5 * kDay);
  telemetry->expire({});
  EXPECT_THAT(messages("g", "s"), IsEmpty());
  EXPECT_THAT(messages("kept", "s"), ElementsAre("old"));
  // The stream is still there and takes new events, also after a restart.
  restart();
  telemetry->log("g", "s", "again");
  EXPECT_THAT(messages("g", "s"), ElementsAre("again"));
}

TEST_F(Retention, AProgramThatRunsKeepsItsOutput) {
  const auto stream = instance("algo-1");
  telemetry->follow(stream);
  print(stream, "first\n");
  keep_for(training_group, 1);
  clock.advance(3 * kDay);
  telemetry->expire({});
  telemetry->finish(stream.group, stream.stream);
  EXPECT_THAT(messages(stream.group, stream.stream), ElementsAre("first"));
  telemetry->expire({});
  EXPECT_THAT(messages(stream.group, stream.stream), IsEmpty());
}

TEST_F(Retention, MetricsAreKeptForFifteenMonths) {
  telemetry->put_metric("n", "old", {}, 1, clock.now());
  clock.advance(200 * kDay);
  telemetry->put_metric("n", "new", {}, 1, clock.now());
  clock.advance(256 * kDay);
  telemetry->expire({});
  std::vector<std::string> names;
  const base::Json listed = cloudwatch("ListMetrics", {});
  for (const auto& metric : listed.at("Metrics").as_array())
    names.push_back(base::string_or(metric, "MetricName"));
  EXPECT_THAT(names, ElementsAre("new"));
  telemetry->put_metric("n", "old", {}, 2, clock.now());
  const base::Json again = cloudwatch("ListMetrics", {});
  EXPECT_EQ(again.at("Metrics").as_array().size(), 2u);
}

}  // namespace
}  // namespace meridian::region::telemetry
