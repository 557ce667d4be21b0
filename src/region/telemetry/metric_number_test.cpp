// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace meridian::region::telemetry {
namespace {

TEST(MetricNumber, ReadsWhatPythonsFloatReads) {
  const std::pair<const char*, double> cases[] = {
      {"1", 1},     {"-1.5", -1.5}, {"+2", 2},    {"1e-05", 1e-5}, {"5E3", 5000},
      {"0.9", 0.9}, {".5", 0.5},    {"5.", 5},    {" 7\t", 7},     {"1e-400", 0},
      {"0x", NAN},  {"1_000", NAN}, {"1,5", NAN}, {"", NAN},       {"dog", NAN},
      {"--1", NAN}, {"+-1", NAN},   {"1e", NAN},  {"1e5.0", NAN},  {"nan(1)", NAN},
      {"1 2", NAN}, {".", NAN},     {"-", NAN},   {"e5", NAN},     {"0x10", NAN}};
  for (const auto& [text, expected] : cases) {
    const auto value = parse_metric_number(text);
    EXPECT_EQ(value.has_value(), !std::isnan(expected)) << text;
    if (!std::isnan(expected)) {
      EXPECT_DOUBLE_EQ(value.value_or(-99), expected) << text;
    }
  }
}

TEST(MetricNumber, KnowsNanAndInfinityInAnyCase) {
  for (const char* text : {"nan", "NaN", "-nan", "+NAN"})
    EXPECT_TRUE(std::isnan(parse_metric_number(text).value())) << text;
  EXPECT_EQ(parse_metric_number("inf"), INFINITY);
  EXPECT_EQ(parse_metric_number("-Infinity"), -INFINITY);
  EXPECT_EQ(parse_metric_number("1e999"), INFINITY);
  EXPECT_EQ(parse_metric_number("-1e999"), -INFINITY);
}

TEST(MetricNumber, TakesTheFullStopOfASentenceAway) {
  EXPECT_EQ(parse_metric_number("0.5."), 0.5);
  EXPECT_EQ(parse_metric_number("0.5.."), std::nullopt);
  EXPECT_EQ(parse_metric_number("1.2.3"), std::nullopt);
}

// `line` with the place between two bars.
std::string_view around(std::string& line) {
  const auto begin = line.find('|');
  line.erase(begin, 1);
  const auto end = line.find('|');
  line.erase(end, 1);
  return number_around(line, begin, end);
}

TEST(MetricNumber, FindsTheNumberAroundAPart) {
  const std::pair<const char*, const char*> cases[] = {
      {"lr=|1|e-05", "1e-05"}, {"lr=1e|-05|", "1e-05"},
      {"lr=1e-|05|", "1e-05"}, {"x=|0|.25", "0.25"},
      {"x=0.|25|", "0.25"},    {"x=0|.25|", "0.25"},
      {"loss=-|0.5|", "-0.5"}, {"step-|3|", "3"},
      {"1-|5|", "5"},          {"step |3|/10", "3"},
      {"12:|30|:45", "30"},    {"|10|epochs", "10"},
      {"e|5|", "5"},           {"v|1|.2.3", "1.2"},
      {"loss: |0.5|.", "0.5"}, {"a=|1.5e+3|", "1.5e+3"},
      {"(|7|)", "7"},          {"x=| 7|", "7"},
      {"+|4|", "+4"},          {"[1]-|2|", "2"},
      {"|dog|", ""},           {"2024-01-|05|", "05"},
      {"x=1|2|3", "123"},      {"9e|e|9", ""},
      {"x#011|5|", "5"},       {"x#011|-5|", "-5"}};
  for (const auto& [marked, expected] : cases) {
    std::string line = marked;
    EXPECT_EQ(around(line), expected) << marked;
  }
}

}  // namespace
}  // namespace meridian::region::telemetry
