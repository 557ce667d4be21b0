// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <set>

namespace meridian::base {
namespace {

TEST(Random, ASeedRepeatsARun) {
  SeededRandom a(7), b(7), c(8);
  const std::string first = a.bytes(100);
  EXPECT_EQ(first, b.bytes(100));
  EXPECT_NE(first, c.bytes(100));
  EXPECT_NE(first, a.bytes(100));
}

TEST(Random, TheSystemsBytesDiffer) {
  SystemRandom random;
  EXPECT_EQ(random.bytes(0), "");
  EXPECT_EQ(random.bytes(1000).size(), 1000u);
  EXPECT_NE(random.bytes(32), random.bytes(32));
}

TEST(Random, BelowIsUniformAndBounded) {
  SeededRandom random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 6000; ++i) ++counts.at(random.below(6));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, IdsHaveTheirForms) {
  SeededRandom random(2);
  EXPECT_EQ(random.hex(7).size(), 7u);
  EXPECT_TRUE(std::regex_match(random.hex(32), std::regex("[0-9a-f]{32}")));
  EXPECT_TRUE(std::regex_match(random.alphanumeric_upper(16), std::regex("[A-Z2-7]{16}")));
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random.uuid();
    ASSERT_TRUE(std::regex_match(id, uuid)) << id;
    ASSERT_TRUE(seen.insert(id).second);
  }
}

}  // namespace
}  // namespace meridian::base
