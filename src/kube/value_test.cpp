// SPDX-License-Identifier: Apache-2.0
#include "kube/value.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace meridian::kube {
namespace {

using base::Json;

Json parsed(std::string_view text) { return base::parse_json(text).value(); }

TEST(Value, NumbersAreEqualByValue) {
  EXPECT_TRUE(same_value(parsed("1"), parsed("1.0")));
  EXPECT_TRUE(same_value(parsed("[{\"a\":2e0}]"), parsed("[{\"a\":2}]")));
  EXPECT_FALSE(same_value(parsed("1"), parsed("\"1\"")));
  EXPECT_FALSE(same_value(parsed("1"), parsed("true")));
  EXPECT_FALSE(same_value(parsed("9007199254740993"), parsed("9007199254740992.0")));
}

TEST(Value, MembersMayStandInAnyOrder) {
  EXPECT_TRUE(same_value(parsed(R"({"a":1,"b":[]})"), parsed(R"({"b":[],"a":1})")));
  EXPECT_FALSE(same_value(parsed(R"({"a":1})"), parsed(R"({"a":1,"b":null})")));
  EXPECT_FALSE(same_value(parsed(R"({"a":1})"), parsed(R"({"b":1})")));
  EXPECT_FALSE(same_value(parsed("[1,2]"), parsed("[2,1]")));
  EXPECT_FALSE(same_value(parsed("[1]"), parsed("[1,1]")));
}

TEST(Value, NumbersHaveOneExactOrder) {
  // Ascending, over all three kinds.
  const char* ascending[] = {"-1e300",
                             "-9223372036854775808",
                             "-1.5",
                             "-1",
                             "-0.5",
                             "0",
                             "0.5",
                             "1",
                             "1.5",
                             "9007199254740992.0",
                             "9007199254740993",
                             "9223372036854775807",
                             "9223372036854775808",
                             "18446744073709551615",
                             "1e300"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      const int wanted = i < j ? -1 : i > j ? 1 : 0;
      EXPECT_EQ(compare_numbers(parsed(ascending[i]), parsed(ascending[j])), wanted)
          << ascending[i] << " and " << ascending[j];
    }
  }
}

TEST(Value, ExtentCountsBytesAndDepth) {
  EXPECT_EQ(extent_of(parsed("1")).depth, 0u);
  EXPECT_EQ(extent_of(parsed("[]")).depth, 1u);
  EXPECT_EQ(extent_of(parsed(R"({"a":[1,{"b":2}]})")).depth, 3u);
  EXPECT_GE(extent_of(Json(std::string(1000, 'x'))).bytes, 1000u);
}

}  // namespace
}  // namespace meridian::kube
