// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/logs_service.h"

#include <gmock/gmock.h>

#include "region/telemetry/test_region.h"

namespace meridian::region::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class LogsServiceTest : public TestRegion {
 protected:
  LogsServiceTest() {
    logs("CreateLogGroup", {{"logGroupName", "g"}});
    logs("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  }
  void put(const std::string& stream, std::vector<std::pair<std::int64_t, std::string>> events) {
    base::JsonArray list;
    for (const auto& [after, message] : events)
      list.push_back(base::JsonObject{{"timestamp", clock.now().ms + after}, {"message", message}});
    logs("PutLogEvents",
         {{"logGroupName", "g"}, {"logStreamName", stream}, {"logEvents", std::move(list)}});
  }
  base::Json get(base::JsonObject more) {
    more["logGroupName"] = "g";
    more["logStreamName"] = "s";
    return logs("GetLogEvents", std::move(more));
  }
  base::Json filter(base::JsonObject more) {
    more["logGroupName"] = "g";
    return logs("FilterLogEvents", std::move(more));
  }
  static std::string messages(const base::Json& answer) {
    std::string out;
    for (const auto& event : answer.at("events").as_array())
      out += (out.empty() ? "" : "|") + std::string(base::view(event.at("message").as_string()));
    return out;
  }
  static std::vector<std::string> names(const base::Json& answer) {
    std::vector<std::string> out;
    for (const auto& stream : answer.at("logStreams").as_array())
      out.emplace_back(base::view(stream.at("logStreamName").as_string()));
    return out;
  }
  std::string refused(const std::string& operation, base::JsonObject in) {
    return refusal([&] { logs(operation, std::move(in)); });
  }
};

TEST_F(LogsServiceTest, WhatDoesNotExistIsNamed) {
  EXPECT_EQ(refused("DescribeLogStreams", {{"logGroupName", "none"}}),
            "ResourceNotFoundException: The specified log group does not exist.");
  EXPECT_EQ(refused("GetLogEvents", {{"logGroupName", "g"}, {"logStreamName", "none"}}),
            "ResourceNotFoundException: The specified log stream does not exist.");
  EXPECT_EQ(refused("FilterLogEvents", {{"logGroupName", "g"}, {"logStreamNames", {"none"}}}),
            "ResourceNotFoundException: The specified log stream does not exist.");
  EXPECT_THAT(refused("PutLogEvents", {{"logGroupName", "none"}, {"logStreamName", "s"}}),
              StartsWith("ResourceNotFoundException"));
}

TEST_F(LogsServiceTest, WhatExistsIsNotMadeAgain) {
  EXPECT_THAT(refused("CreateLogGroup", {{"logGroupName", "g"}}),
              StartsWith("ResourceAlreadyExistsException"));
  EXPECT_THAT(refused("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}}),
              StartsWith("ResourceAlreadyExistsException"));
}

TEST_F(LogsServiceTest, PutEventsComeBackAsTheyWere) {
  put("s", {{0, "a\ttab"}, {5, "two\nlines"}, {5, "back\\slash"}});
  const auto answer = get({{"startFromHead", true}});
  EXPECT_EQ(messages(answer), "a\ttab|two\nlines|back\\slash");
  EXPECT_EQ(answer.at("events").at(1).at("timestamp").as_int64(), clock.now().ms + 5);
  EXPECT_EQ(answer.at("events").at(1).at("ingestionTime").as_int64(), clock.now().ms);
}

TEST_F(LogsServiceTest, TheForwardTokenStaysTheSameAtTheEnd) {
  put("s", {{0, "1"}, {1, "2"}, {2, "3"}});
  auto answer = get({{"startFromHead", true}, {"limit", 2}});
  EXPECT_EQ(messages(answer), "1|2");
  answer = get({{"startFromHead", true}, {"nextToken", answer.at("nextForwardToken")}});
  EXPECT_EQ(messages(answer), "3");
  const auto token = answer.at("nextForwardToken");
  answer = get({{"startFromHead", true}, {"nextToken", token}});
  EXPECT_EQ(messages(answer), "");
  EXPECT_EQ(answer.at("nextForwardToken"), token);
  put("s", {{3, "4"}});
  EXPECT_EQ(messages(get({{"nextToken", token}})), "4");
}

TEST_F(LogsServiceTest, WithoutStartFromHeadTheNewestComeFirst) {
  put("s", {{0, "1"}, {1, "2"}, {2, "3"}});
  auto answer = get({{"limit", 2}});
  EXPECT_EQ(messages(answer), "2|3");
  answer = get({{"limit", 2}, {"nextToken", answer.at("nextBackwardToken")}});
  EXPECT_EQ(messages(answer), "1");
  const auto token = answer.at("nextBackwardToken");
  answer = get({{"nextToken", token}});
  EXPECT_EQ(messages(answer), "");
  EXPECT_EQ(answer.at("nextBackwardToken"), token);
  EXPECT_EQ(messages(get({{"nextToken", answer.at("nextForwardToken")}})), "1|2|3");
}

TEST_F(LogsServiceTest, BrokenTokensAreRefused) {
  for (const char* token : {"x", "f/", "f/-1", "z/00", "f/99999999999999999999999", "b/1x"})
    EXPECT_EQ(refusal([&] { get({{"nextToken", token}}); }),
              "InvalidParameterException: The specified nextToken is invalid.")
        << token;
  for (const char* token : {"x", "e30=", "W10="})
    EXPECT_EQ(refusal([&] { filter({{"nextToken", token}}); }),
              "InvalidParameterException: The specified nextToken is invalid.")
        << token;
}

TEST_F(LogsServiceTest, TimesBoundTheEvents) {
  put("s", {{0, "1"}, {10, "2"}, {20, "3"}});
  const std::int64_t now = clock.now().ms;
  EXPECT_EQ(messages(get({{"startFromHead", true}, {"startTime", now + 10}})), "2|3");
  EXPECT_EQ(messages(get({{"startTime", now + 10}, {"endTime", now + 20}})), "2");
  EXPECT_EQ(messages(filter({{"startTime", now + 1}, {"endTime", now + 20}})), "2");
}

TEST_F(LogsServiceTest, ProgramOutputIsEscaped) {
  const auto stream = instance("algo-1");
  run_to_end(stream, "a\tb\r\n\x1b[1mbold\n");
  const auto answer = logs(
      "GetLogEvents",
      {{"logGroupName", stream.group}, {"logStreamName", stream.stream}, {"startFromHead", true}});
  EXPECT_EQ(messages(answer), "a#011b#015|#033[1mbold");
  EXPECT_THAT(
      refused("PutLogEvents", {{"logGroupName", stream.group},
                               {"logStreamName", stream.stream},
                               {"logEvents", {{{"timestamp", clock.now().ms}, {"message", "x"}}}}}),
      HasSubstr("takes no other events"));
}

TEST_F(LogsServiceTest, NoTokenWhenAllStreamsFit) {
  for (int i = 0; i < 60; ++i)
    logs("CreateLogStream",
         {{"logGroupName", "g"}, {"logStreamName", "job/algo-" + std::to_string(100 + i)}});
  const auto some = logs("DescribeLogStreams", {{"logGroupName", "g"}, {"limit", 50}});
  EXPECT_EQ(names(some).size(), 50u);
  ASSERT_TRUE(some.as_object().contains("nextToken"));
  const auto rest =
      logs("DescribeLogStreams",
           {{"logGroupName", "g"}, {"limit", 50}, {"nextToken", some.at("nextToken")}});
  EXPECT_EQ(names(rest).size(), 11u);
  EXPECT_FALSE(rest.as_object().contains("nextToken"));
  const auto exact = logs("DescribeLogStreams",
                          {{"logGroupName", "g"}, {"logStreamNamePrefix", "s"}, {"limit", 1}});
  EXPECT_THAT(names(exact), ElementsAre("s"));
  EXPECT_FALSE(exact.as_object().contains("nextToken"));
}

TEST_F(LogsServiceTest, AJobsStreamsAreOnOnePageWhateverTheLimit) {
  for (int i = 0; i < 1100; ++i)
    logs("CreateLogStream",
         {{"logGroupName", "g"}, {"logStreamName", "job/algo-" + std::to_string(10'000 + i)}});
  const auto all = logs("DescribeLogStreams", {{"logGroupName", "g"},
                                               {"logStreamNamePrefix", "job/"},
                                               {"orderBy", "LogStreamName"},
                                               {"limit", 50}});
  EXPECT_EQ(names(all).size(), 1100u);
  EXPECT_FALSE(all.as_object().contains("nextToken"));
}

TEST_F(LogsServiceTest, StreamsAreOrderedByNameOrLastEvent) {
  for (const char* name : {"b", "a"})
    logs("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}});
  put("b", {{30, "x"}});
  put("a", {{20, "x"}});
  put("s", {{10, "x"}});
  EXPECT_THAT(names(logs("DescribeLogStreams", {{"logGroupName", "g"}})),
              ElementsAre("a", "b", "s"));
  EXPECT_THAT(names(logs("DescribeLogStreams", {{"logGroupName", "g"}, {"descending", true}})),
              ElementsAre("s", "b", "a"));
  const auto by_time =
      logs("DescribeLogStreams",
           {{"logGroupName", "g"}, {"orderBy", "LastEventTime"}, {"descending", true}});
  EXPECT_THAT(names(by_time), ElementsAre("b", "a", "s"));
  EXPECT_EQ(by_time.at("logStreams").at(0).at("lastEventTimestamp").as_int64(),
            clock.now().ms + 30);
  EXPECT_THAT(
      refused("DescribeLogStreams",
              {{"logGroupName", "g"}, {"orderBy", "LastEventTime"}, {"logStreamNamePrefix", "b"}}),
      HasSubstr("Cannot order by LastEventTime"));
}

TEST_F(LogsServiceTest, GroupsAreListedWithTheirRetention) {
  logs("CreateLogGroup", {{"logGroupName", "g2"}});
  logs("PutRetentionPolicy", {{"logGroupName", "g2"}, {"retentionInDays", 14}});
  const auto listed = logs("DescribeLogGroups", {{"logGroupNamePrefix", "g"}});
  ASSERT_EQ(listed.at("logGroups").as_array().size(), 2u);
  EXPECT_FALSE(listed.at("logGroups").at(0).as_object().contains("retentionInDays"));
  EXPECT_EQ(listed.at("logGroups").at(1).at("retentionInDays").as_int64(), 14);
  EXPECT_EQ(listed.at("logGroups").at(1).at("arn").as_string(),
            "arn:aws:logs:us-west-2:000000000000:log-group:g2:*");
  logs("DeleteRetentionPolicy", {{"logGroupName", "g2"}});
  const auto again = logs("DescribeLogGroups", {{"logGroupNamePrefix", "g2"}});
  EXPECT_FALSE(again.at("logGroups").at(0).as_object().contains("retentionInDays"));
  EXPECT_EQ(logs("DescribeLogGroups", {{"limit", 1}}).as_object().contains("nextToken"), true);
}

TEST_F(LogsServiceTest, DeletedStreamsAndGroupsAreGone) {
  put("s", {{0, "old"}});
  logs("DeleteLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  EXPECT_THAT(names(logs("DescribeLogStreams", {{"logGroupName", "g"}})), ElementsAre());
  logs("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", "s"}});
  EXPECT_EQ(messages(get({})), "");
  logs("DeleteLogGroup", {{"logGroupName", "g"}});
  EXPECT_THAT(refused("DescribeLogStreams", {{"logGroupName", "g"}}),
              StartsWith("ResourceNotFoundException"));
}

TEST_F(LogsServiceTest, AFollowedStreamCanBeDeleted) {
  const auto stream = instance("algo-1", {{"loss", "loss=(\\S+)"}});
  telemetry->follow(stream);
  print(stream, "loss=1\n");
  logs("DeleteLogStream", {{"logGroupName", stream.group}, {"logStreamName", stream.stream}});
  restart();
  EXPECT_THAT(names(logs("DescribeLogStreams", {{"logGroupName", stream.group}})), ElementsAre());
}

TEST_F(LogsServiceTest, FilterMergesStreamsByTimeAndPages) {
  for (const char* name : {"job/a", "job/b"})
    logs("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}});
  put("job/a", {{0, "1"}, {4, "5"}, {6, "7"}});
  put("job/b", {{1, "2"}, {2, "3"}, {3, "4"}, {5, "6"}});
  put("s", {{0, "other"}});
  EXPECT_EQ(messages(filter({{"logStreamNamePrefix", "job/"}})), "1|2|3|4|5|6|7");
  EXPECT_EQ(messages(filter({{"logStreamNames", {"s"}}})), "other");
  std::string all;
  base::JsonObject page{{"logStreamNamePrefix", "job/"}, {"limit", 2}};
  for (int i = 0; i < 9; ++i) {
    const auto answer = filter(page);
    all += messages(answer) + ";";
    if (!answer.as_object().contains("nextToken")) break;
    page["nextToken"] = answer.at("nextToken");
  }
  EXPECT_EQ(all, "1|2;3|4;5|6;7;");
}

TEST_F(LogsServiceTest, FilterSearchesManyStreamsWithoutNames) {
  for (int i = 0; i < 130; ++i) {
    const std::string name = "n" + std::to_string(1000 + i);
    logs("CreateLogStream", {{"logGroupName", "g"}, {"logStreamName", name}});
    put(name, {{i, "x"}});
  }
  std::size_t seen = 0;
  std::set<std::string> ids;
  base::JsonObject page{{"filterPattern", "x"}, {"limit", 50}};
  for (int i = 0; i < 9; ++i) {
    const auto answer = filter(page);
    for (const auto& event : answer.at("events").as_array())
      ids.emplace(base::view(event.at("eventId").as_string()));
    seen += answer.at("events").as_array().size();
    if (!answer.as_object().contains("nextToken")) break;
    page["nextToken"] = answer.at("nextToken");
  }
  EXPECT_EQ(seen, 130u);
  EXPECT_EQ(ids.size(), 130u);
}

TEST_F(LogsServiceTest, FilterPatternsChooseOrAreRefused) {
  put("s", {{0, "ERROR disk"}, {1, "INFO fine"}, {2, R"({"loss":0.25})"}});
  EXPECT_EQ(messages(filter({{"filterPattern", "ERROR"}})), "ERROR disk");
  EXPECT_EQ(messages(filter({{"filterPattern", "{ $.loss < 1 }"}})), R"({"loss":0.25})");
  EXPECT_THAT(refusal([&] { filter({{"filterPattern", "[a]"}}); }),
              StartsWith("InvalidParameterException: Invalid filter pattern"));
}

TEST_F(LogsServiceTest, EventsOutsideCloudWatchsLimitsAreSaid) {
  const std::int64_t now = clock.now().ms, day = 24LL * 3600 * 1000;
  const auto put_at = [&](std::vector<std::int64_t> times, std::string message) {
    base::JsonArray list;
    for (const auto at : times)
      list.push_back(base::JsonObject{{"timestamp", at}, {"message", message}});
    return logs("PutLogEvents",
                {{"logGroupName", "g"}, {"logStreamName", "s"}, {"logEvents", std::move(list)}});
  };
  EXPECT_EQ(put_at({now - 15 * day}, "x").at("rejectedLogEventsInfo").at("tooOldLogEventEndIndex"),
            1);
  EXPECT_EQ(
      put_at({now, now + day / 2}, "x").at("rejectedLogEventsInfo").at("tooNewLogEventStartIndex"),
      1);
  EXPECT_EQ(messages(get({})), "x");
  EXPECT_THAT(refusal([&] { put_at({now, now - 1}, "x"); }), HasSubstr("chronological"));
  EXPECT_THAT(refusal([&] { put_at({now - 2 * day, now}, "x"); }), HasSubstr("24 hours"));
  EXPECT_THAT(refusal([&] { put_at({now}, std::string(300'000, 'x')); }), HasSubstr("too large"));
  EXPECT_THAT(refusal([&] { put_at({}, ""); }), HasSubstr("greater than or equal to 1"));
}

TEST_F(LogsServiceTest, ATornAppendIsRepairedByTheNext) {
  put("s", {{0, "first"}});
  const auto path = telemetry->log_file("g", "s");
  std::string bytes = base::read_file(path);
  base::write_file(path, bytes + "17000000 - tor");
  put("s", {{1, "second"}});
  EXPECT_EQ(messages(get({{"startFromHead", true}})), "first|second");
}

}  // namespace
}  // namespace meridian::region::telemetry
