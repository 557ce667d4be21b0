// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace meridian::base {
namespace {

Json parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.ok()) << (value.ok() ? "" : value.error().text());
  return value.ok() ? std::move(*value) : Json();
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json v = parsed(R"( {"a":[1,-2,1.5,true,false,null,"x"],"b":{"c":"\u00e9\ud83d\ude00"}} )");
  EXPECT_EQ(v.at("a").at(0), 1);
  EXPECT_EQ(v.at("a").at(2), 1.5);
  EXPECT_TRUE(v.at("a").at(5).is_null());
  EXPECT_EQ(view(v.at("b").at("c").get_string()), "é😀");
}

TEST(Json, RefusesWhatRfc8259DoesNotAllow) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\":1,}", "nul", "01", "1.", ".5", "+1", "'a'",
                           "\"\x01\"", "\"\\x\"", "[1] 2", "// c\n1", "NaN", "\"\xff\"", "{a:1}"}) {
    EXPECT_FALSE(parse_json(text).ok()) << text;
  }
}

TEST(Json, AnErrorSaysWhere) {
  const auto bad = parse_json("{\n  \"a\": 1,\n  \"b\": x\n}");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().line, 3);
  EXPECT_NEAR(bad.error().column, 8, 1);
  const auto tail = parse_json("1 \n x");
  EXPECT_EQ(tail.error().line, 2);
  EXPECT_EQ(tail.error().column, 2);
}

TEST(Json, DepthAndSizeAreBounded) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(64)).ok());
  EXPECT_FALSE(parse_json(nested(65)).ok());
  EXPECT_FALSE(parse_json("[1,2,3]", {.bytes = 6}).ok());
  EXPECT_TRUE(parse_json("[1,2,3]", {.bytes = 7}).ok());
}

TEST(Json, ParsedDoublesAreTheNearestOnes) {
  EXPECT_EQ(parsed("0.30000000000000004").get_double(), 0.30000000000000004);
  EXPECT_EQ(parsed("4.9e-324").get_double(), 4.9e-324);
  EXPECT_EQ(parsed("1e-400").get_double(), 0.0);
  EXPECT_EQ(parsed("123456789012345678901234567890").get_double(), 123456789012345678901234567890.);
  EXPECT_TRUE(std::signbit(parsed("-0.0").get_double()));
  EXPECT_FALSE(parse_json("1e400").ok());
  EXPECT_FALSE(parse_json("[-1e999]").ok());
}

TEST(Json, EveryDoubleSurvivesTheWayOutAndBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const Json again = parsed(number_text(value));
    ASSERT_TRUE(again.is_double()) << number_text(value);
    ASSERT_EQ(again.get_double(), value) << number_text(value);
  }
}

TEST(Json, NumbersAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(number_text(1.5), "1.5");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(100), "100.0");
  EXPECT_EQ(number_text(1111113111911131), "1111113111911131.0");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(std::nan("")), "null");
  EXPECT_EQ(to_text(parsed("[1,18446744073709551615,-9223372036854775808]")),
            "[1,18446744073709551615,-9223372036854775808]");
}

TEST(Json, WritesCompactPrettyAndSorted) {
  const Json v = parsed(R"({"b":[1,{}],"a":"x\n\"\u0001"})");
  EXPECT_EQ(to_text(v), R"({"b":[1,{}],"a":"x\n\"\u0001"})");
  EXPECT_EQ(to_text(v, JsonStyle::sorted), R"({"a":"x\n\"\u0001","b":[1,{}]})");
  EXPECT_EQ(to_text(parsed(R"({"b":[1,{}]})"), JsonStyle::pretty),
            "{\n  \"b\": [\n    1,\n    {}\n  ]\n}");
}

TEST(Json, TypedReadsFallBack) {
  const Json v =
      parsed(R"({"s":"x","i":7,"d":2.5,"big":1e300,"u":18446744073709551615,"t":true,"n":null})");
  EXPECT_EQ(string_or(v, "s"), "x");
  EXPECT_EQ(string_or(v, "i", "f"), "f");
  EXPECT_EQ(int_or(v, "i", 0), 7);
  EXPECT_EQ(int_or(v, "d", 0), 2);
  EXPECT_EQ(int_or(v, "big", -1), -1);
  EXPECT_EQ(int_or(v, "u", -1), -1);
  EXPECT_EQ(double_or(v, "i", 0), 7.0);
  EXPECT_TRUE(bool_or(v, "t", false));
  EXPECT_FALSE(find_string(v, "t"));
  EXPECT_EQ(find(v, "n"), nullptr);
  const Json number(1);
  EXPECT_EQ(find(number, "n"), nullptr);
}

TEST(Json, PathsLeadThroughObjects) {
  const Json v = parsed(R"({"a":{"b":{"c":1}}})");
  ASSERT_NE(find_path(v, "a.b.c"), nullptr);
  EXPECT_EQ(*find_path(v, "a.b.c"), 1);
  EXPECT_EQ(find_path(v, "a.x.c"), nullptr);
  EXPECT_EQ(find_path(v, "a.b.c.d"), nullptr);
}

TEST(Json, DamagedDocumentsOfOurOwnAreDataLoss) {
  try {
    parse_stored_json("{", "job 'a'");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::data_loss);
    EXPECT_NE(error.message().find("job 'a'"), std::string::npos);
  }
}

}  // namespace
}  // namespace meridian::base
