// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/filter_pattern.h"

#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

bool matches(const std::string& pattern, const std::string& message) {
  const auto filter = parse_filter(pattern);
  EXPECT_TRUE(filter.ok()) << pattern << ": " << (filter.ok() ? "" : filter.error().text());
  return filter.ok() && (*filter)->matches(message);
}

std::string refusal(const std::string& pattern) {
  const auto filter = parse_filter(pattern);
  return filter.ok() ? "" : filter.error().message;
}

TEST(FilterPattern, TheEmptyPatternMatchesAll) {
  EXPECT_TRUE(matches("", "anything"));
  EXPECT_TRUE(matches("  ", ""));
}

TEST(FilterPattern, EveryTermMustBeThere) {
  EXPECT_TRUE(matches("ERROR disk", "an ERROR of the disk"));
  EXPECT_FALSE(matches("ERROR disk", "an ERROR"));
  EXPECT_FALSE(matches("ERROR", "an error"));
}

TEST(FilterPattern, QuotesHoldBlanksAndQuotes) {
  EXPECT_TRUE(matches("\"out of memory\"", "killed: out of memory"));
  EXPECT_FALSE(matches("\"out of memory\"", "memory out of"));
  EXPECT_TRUE(matches("\"say \\\"hi\\\"\"", "they say \"hi\" now"));
}

TEST(FilterPattern, AnyAndNot) {
  EXPECT_TRUE(matches("?ERROR ?WARN", "a WARN"));
  EXPECT_FALSE(matches("?ERROR ?WARN", "an INFO"));
  EXPECT_FALSE(matches("ERROR -ignored", "ERROR ignored"));
  EXPECT_TRUE(matches("ERROR -\"not me\"", "ERROR me"));
}

TEST(FilterPattern, FieldsOfJson) {
  const std::string line =
      R"({"loss":0.25,"host":"algo-2","tags":["a","b"],"sub":{"ok":true},"n":null})";
  EXPECT_TRUE(matches("{ $.loss < 0.5 }", line));
  EXPECT_FALSE(matches("{ $.loss >= 0.5 }", line));
  EXPECT_TRUE(matches("{ $.loss = 0.25 && $.host = \"algo-*\" }", line));
  EXPECT_TRUE(matches("{ $.loss > 1 || ($.host != \"algo-1\" && $.tags[1] = \"b\") }", line));
  EXPECT_TRUE(matches("{ $.sub.ok IS TRUE }", line));
  EXPECT_TRUE(matches("{ $.n IS NULL }", line));
  EXPECT_TRUE(matches("{ $.other NOT EXISTS }", line));
  EXPECT_FALSE(matches("{ $.other != 5 }", line));
  EXPECT_TRUE(matches("{$.host=algo-2}", line));
  EXPECT_FALSE(matches("{ $.loss < 0.5 }", "loss 0.25"));
  EXPECT_FALSE(matches("{ $.loss < 0.5 }", "[1]"));
  EXPECT_FALSE(matches("{ $.tags[7] = 1 }", line));
}

TEST(FilterPattern, StarsMatchAnyText) {
  const auto like = [](const std::string& pattern, const std::string& text) {
    return matches("{ $.x = \"" + pattern + "\" }", "{\"x\":\"" + text + "\"}");
  };
  EXPECT_TRUE(like("a*c*e", "abcde"));
  EXPECT_TRUE(like("*", ""));
  EXPECT_TRUE(like("*ab", "aab"));
  EXPECT_FALSE(like("a*b", "ac"));
  EXPECT_FALSE(like("ab", "abc"));
}

TEST(FilterPattern, WhatIsNotSupportedIsRefused) {
  EXPECT_NE(refusal("[a, b]"), "");
  EXPECT_NE(refusal("%ERR.*%"), "");
  EXPECT_NE(refusal("\"open"), "");
  EXPECT_NE(refusal("- x"), "");
  EXPECT_NE(refusal("?"), "");
  EXPECT_NE(refusal(std::string(2000, 'x')), "");
  for (const char* wrong :
       {"{", "{}", "{ loss < 5 }", "{ $.loss }", "{ $.loss < }", "{ $.loss < x }", "{ $. = 1 }",
        "{ $.a[x] = 1 }", "{ ($.a = 1 }", "{ $.a = 1 $.b = 2 }", "{ $.a = \"x }", "{ $.a IS }"})
    EXPECT_NE(refusal(wrong), "") << wrong;
  EXPECT_NE(refusal("{" + std::string(500, '(') + "}"), "");
}

}  // namespace
}  // namespace meridian::region::telemetry
