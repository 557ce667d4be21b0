// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/regex.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

TEST(Regex, FindsAnywhereUnlessAnchored) {
  const struct {
    const char *pattern, *text;
    bool found;
  } cases[] = {
      {"b", "abc", true},
      {"^b", "abc", false},
      {"^(https|s3)://", "s3://x", true},
      {"^a$", "a\n", false},
      {"é+", "xéé", true},
      {"^[a-z]{1,3}$", "abcd", false},
      {R"(^\d+\.\d$)", "12.5", true},
      {"[[:alpha:]]+?", "1a", true},
      {"(?i)ABC", "xabc", true},
      {"(?P<n>a)", "a", true},
      {"a{,3}", "a{,3}", true},
      {"[]a]", "]", true},
      {R"(\p{L})", "é", true},
      {"", "", true},
      {R"(\Qa+\E)", "a+", true},
      {"[^/]+/?", "x", true},
  };
  for (const auto& c : cases) {
    const auto regex = parse_regex(c.pattern);
    ASSERT_TRUE(regex.ok()) << c.pattern << ": " << regex.error().text();
    EXPECT_EQ(regex->finds(c.text), c.found) << c.pattern << " in " << c.text;
  }
}

TEST(Regex, WhatRe2RefusesIsRefused) {
  for (const char* pattern :
       {"(?!a)b",  "(?=a)",     "(?<=a)b", "(?<!a)",  "(?>a)",   R"((a)\1)", R"(\k<n>)",
        "a*+",     "a++",       "a**",     "a{1,2}+", "(*FAIL)", R"(\K)",    R"(\Z)",
        "a{1001}", "a{1,2048}", "(",       "[a",      "a)",      "(?#x)"}) {
    EXPECT_FALSE(parse_regex(pattern).ok()) << pattern;
  }
  EXPECT_EQ(parse_regex("ab(?!c)").error().offset, 2u);
  EXPECT_FALSE(parse_regex(std::string(5000, 'a')).ok());
  EXPECT_TRUE(parse_regex("a{1000}").ok());
}

TEST(Regex, ASearchThatWouldTakeTooLongIsNoAnswer) {
  const auto regex = parse_regex("^(a|aa|aaa)+$");
  ASSERT_TRUE(regex.ok());
  EXPECT_FALSE(regex->finds(std::string(200, 'a') + "b"));
  EXPECT_FALSE(regex->finds("\xff"));
}

}  // namespace
}  // namespace meridian::kube
