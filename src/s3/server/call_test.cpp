// SPDX-License-Identifier: Apache-2.0
#include "s3/server/call.h"

#include <gtest/gtest.h>

#include "s3/server/conditions.h"
#include "s3/server/cors.h"

namespace meridian::s3 {
namespace {

using Kind = RangeAnswer::Kind;

TEST(Target, PathAndVirtualHostStyleNameTheSameObject) {
  for (const auto& [host, path] : std::vector<std::pair<std::string, std::string>>{
           {"127.0.0.1:8470", "/bucket/a%20b//c/"},
           {"localhost:8470", "/bucket/a%20b//c/"},
           {"s3.us-west-2.amazonaws.com", "/bucket/a%20b//c/"},
           {"bucket.localhost:8470", "/a%20b//c/"},
           {"bucket.s3.us-west-2.amazonaws.com", "/a%20b//c/"},
           {"bucket.s3-us-west-2.amazonaws.com", "/a%20b//c/"}}) {
    const auto target = parse_target(host, path);
    ASSERT_TRUE(target) << host;
    EXPECT_EQ(target->bucket, "bucket") << host;
    EXPECT_EQ(target->key, "a b//c/") << host;
  }
}

TEST(Target, BrokenEscapesAndOtherEncodingsAreRefused) {
  for (const char* path : {"/bucket/%zz", "/bucket/%", "/bucket/%ff", "/%g/key"})
    EXPECT_FALSE(parse_target("127.0.0.1", path)) << path;
}

TEST(Range, OneRangeIsTakenAndCutAtTheEnd) {
  const auto part = [](std::string_view text, std::uint64_t offset, std::uint64_t count) {
    const auto answer = parse_range(text, 100);
    EXPECT_EQ(answer.kind, Kind::part) << text;
    EXPECT_EQ(answer.range.offset, offset) << text;
    EXPECT_EQ(answer.range.count, count) << text;
  };
  part("bytes=0-9", 0, 10);
  part("bytes=99-", 99, 1);
  part("bytes=-1", 99, 1);
  part("bytes=-500", 0, 100);
  part("bytes=5-18446744073709551615", 5, 95);  // the largest number there is
}

TEST(Range, WhatIsNoRangeMeansTheWholeAndWhatIsBehindTheEndIsNot) {
  for (const char* text : {"", "bytes", "bytes=", "bytes=-", "bytes=9-3", "bytes=1-2,4-5",
                           "items=1-2", "bytes=99999999999999999999-"})
    EXPECT_EQ(parse_range(text, 100).kind, Kind::whole) << text;
  for (const char* text : {"bytes=100-", "bytes=100-200", "bytes=-0"})
    EXPECT_EQ(parse_range(text, 100).kind, Kind::unsatisfiable) << text;
  EXPECT_EQ(parse_range("bytes=-5", 0).kind, Kind::unsatisfiable);
}

TEST(Conditions, AnETagDecidesBeforeADate) {
  const ObjectRecord record{.etag = "e", .modified = {10'500}};
  const auto verdict = [&](ReadConditions conditions) { return check_read(conditions, record); };
  const base::Timestamp before{9'000}, same{10'000}, after{11'000};
  EXPECT_EQ(verdict({}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_match = "\"e\""}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_match = "x, \"e\""}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_match = "x"}), ReadVerdict::failed);
  EXPECT_EQ(verdict({.if_match = "e", .if_unmodified_since = before}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_unmodified_since = before}), ReadVerdict::failed);
  EXPECT_EQ(verdict({.if_unmodified_since = same}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_none_match = "*"}), ReadVerdict::not_modified);
  EXPECT_EQ(verdict({.if_none_match = "x", .if_modified_since = after}), ReadVerdict::send);
  EXPECT_EQ(verdict({.if_modified_since = same}), ReadVerdict::not_modified);
  EXPECT_EQ(verdict({.if_modified_since = before}), ReadVerdict::send);
}

TEST(Cors, TheFirstRuleThatFitsAnswers) {
  const auto rules = parse_cors(
      "<CORSConfiguration><CORSRule><AllowedOrigin>https://*.example</AllowedOrigin>"
      "<AllowedMethod>GET</AllowedMethod><AllowedHeader>X-*</AllowedHeader></CORSRule><CORSRule>"
      "<AllowedOrigin>*</AllowedOrigin><AllowedMethod>PUT</AllowedMethod></CORSRule>"
      "</CORSConfiguration>");
  ASSERT_TRUE(rules);
  EXPECT_EQ(match_cors(*rules, "https://a.example", "GET", "x-a, x-b"), &(*rules)[0]);
  EXPECT_EQ(match_cors(*rules, "https://a.example", "PUT", ""), &(*rules)[1]);
  EXPECT_EQ(match_cors(*rules, "https://a.example", "GET", "authorization"), nullptr);
  EXPECT_EQ(match_cors(*rules, "https://other", "GET", ""), nullptr);
}

TEST(Cors, BadRulesAreRefused) {
  for (const char* xml :
       {"", "<x/>", "<CORSConfiguration/>", "<CORSConfiguration><CORSRule/></CORSConfiguration>",
        "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>"
        "<AllowedMethod>PATCH</AllowedMethod></CORSRule></CORSConfiguration>"})
    EXPECT_FALSE(parse_cors(xml)) << xml;
}

}  // namespace
}  // namespace meridian::s3
