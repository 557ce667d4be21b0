// SPDX-License-Identifier: Apache-2.0
#include "kube/labels.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using Check = std::optional<std::string> (*)(std::string_view);

void expect(Check check, std::initializer_list<std::string> good,
            std::initializer_list<std::string> bad) {
  for (const auto& text : good) EXPECT_FALSE(check(text)) << text << ": " << *check(text);
  for (const auto& text : bad) EXPECT_TRUE(check(text)) << text;
}

TEST(Labels, KeysMayHaveASubdomainBeforeThem) {
  expect(why_not_label_key, {"a", "A.b_c-9", "example.com/a", std::string(63, 'a')},
         {"", "-a", "a-", "a b", "/a", "a/", "a/b/c", "Example.com/a", std::string(64, 'a'), "é"});
}

TEST(Labels, ValuesMayBeEmpty) {
  expect(why_not_label_value, {"", "a", "A.b_c-9", std::string(63, 'a')},
         {"-", "a-", ".a", "a b", "a/b", std::string(64, 'a')});
}

TEST(Labels, DnsLabelsAreLowerCaseWithoutDots) {
  expect(why_not_dns_label, {"a", "9", "a-b", std::string(63, 'a')},
         {"", "A", "a.b", "-a", "a-", std::string(64, 'a')});
  expect(why_not_dns_1035_label, {"a", "a-9"}, {"", "9", "9a", "a-", "A"});
}

TEST(Labels, SubdomainsAreLabelsJoinedByDots) {
  expect(why_not_subdomain, {"a", "a.b", "9.x-y", std::string(253, 'a')},
         {"", ".", "a.", ".a", "a..b", "a.-b", "A", "a_b", std::string(254, 'a')});
}

TEST(Labels, PathSegmentsHoldNoSlash) {
  expect(why_not_path_segment, {"a", "A:b", "..."}, {".", "..", "a/b", "a%b"});
}

}  // namespace
}  // namespace meridian::kube
