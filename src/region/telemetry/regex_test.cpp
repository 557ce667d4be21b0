// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/regex.h"

#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

std::optional<std::string> first(const std::string& pattern, const std::string& line) {
  auto regex = Regex::compile(pattern);
  if (!regex) return "error: " + regex.error().message;
  if (regex->search(line, 0) != Regex::Outcome::match) return std::nullopt;
  const auto span = regex->groups()[regex->group_count() > 0 ? 1 : 0];
  return span ? line.substr(span->first, span->second - span->first) : "unset";
}

TEST(Regex, UnderstandsPythonsNotation) {
  EXPECT_EQ(first("(?P<loss>[0-9.]+)", "loss 0.5"), "0.5");
  EXPECT_EQ(first("(?P<a>x)(?P=a)=(?:\\d+)", "xx=5"), "x");
  EXPECT_EQ(first("loss=(\\d+)\\Z", "loss=5"), "5");
  EXPECT_EQ(first("\\u0041=(\\d)", "A=5"), "5");
  EXPECT_EQ(first("\\U0001F600=(\\d)", "\xF0\x9F\x98\x80=5"), "5");
  EXPECT_EQ(first("x{,2}=(\\d)", "xx=5"), "5");
  EXPECT_EQ(first("(?u)(?i)LOSS=(\\d)", "loss=5"), "5");
  EXPECT_EQ(first("(?aiu:LOSS)=(\\d)", "loss=5"), "5");
  EXPECT_EQ(first("(?<=loss=)(\\d+)", "loss=12"), "12");
  EXPECT_EQ(first("(?#words)(\\d+)", "12"), "12");
  EXPECT_EQ(first("[]{,]=(\\d)", "{=5"), "5");
  EXPECT_EQ(first("[^]]=(\\d)", "a=5"), "5");
  EXPECT_EQ(first("\\[{,3}(\\d)", "[[5"), "5");
  EXPECT_EQ(first("pr\\w+cision=(\\d)",
                  "pr\xC3\xA9"
                  "cision=1"),
            "1");
}

TEST(Regex, SaysWhatIsWrongAndWhere) {
  const auto broken = Regex::compile("loss=([0-9");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message, "missing terminating ] for character class");
  EXPECT_EQ(broken.error().offset, 10u);
  EXPECT_FALSE(Regex::compile(std::string(5000, 'a')).ok());
  EXPECT_FALSE(Regex::compile("\\C").ok());
  EXPECT_FALSE(Regex::compile("\\").ok());
}

TEST(Regex, BytesThatAreNotTextDoNotStopTheSearch) {
  EXPECT_EQ(first("loss=(\\d+)", "\xff\xfe loss=7 \x80"), "7");
  auto regex = Regex::compile("a").value().group_count();
  EXPECT_EQ(regex, 0u);
}

TEST(Regex, ARunawayPatternIsTooExpensiveNotEndless) {
  auto regex = Regex::compile("^(a+)+$");
  ASSERT_TRUE(regex.ok());
  EXPECT_EQ(regex->search(std::string(40, 'a') + "b", 0), Regex::Outcome::too_expensive);
  EXPECT_EQ(regex->search("aaa", 0), Regex::Outcome::match);
}

TEST(Regex, ALongLineIsSearched) {
  EXPECT_EQ(first("(.*)loss=(\\d+)", std::string(200'000, 'x') + "loss=5")->size(), 200'000u);
}

TEST(Regex, GroupsThatTookNoPartAreUnset) {
  auto regex = Regex::compile("(a)|(?P<b>b)");
  ASSERT_EQ(regex->search("b", 0), Regex::Outcome::match);
  EXPECT_EQ(regex->groups().size(), 3u);
  EXPECT_FALSE(regex->groups()[1].has_value());
  EXPECT_EQ(regex->group_named("b"), 2u);
  EXPECT_EQ(regex->group_named("c"), std::nullopt);
}

}  // namespace
}  // namespace meridian::region::telemetry
