// SPDX-License-Identifier: Apache-2.0
#include "kube/field_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using base::Json;
using ::testing::ElementsAre;

Json parsed(std::string_view text) { return base::parse_json(text).value(); }
FieldSet set_of(std::string_view text) {
  auto set = parse_fields_v1(parsed(text));
  EXPECT_TRUE(set.ok()) << text << ": " << (set ? "" : set.error());
  return set ? *set : FieldSet();
}

TEST(FieldSet, ReadsAndWritesTheWireForm) {
  for (const char* text :
       {"{}", R"({"f:a":{}})", R"({"f:a":{".":{},"f:b":{}},"f:c":{"f:d":{"f:e":{}}}})",
        R"({"f:l":{"k:{\"name\":\"a\",\"port\":80}":{".":{},"f:x":{}},"v:\"s\"":{},"i:3":{}}})"}) {
    EXPECT_EQ(to_fields_v1(set_of(text)), parsed(text)) << text;
  }
}

TEST(FieldSet, ElementsHaveOneSpelling) {
  EXPECT_EQ(set_of(R"({"k:{\"b\": 1, \"a\":2}":{}})"), set_of(R"({"k:{\"a\":2,\"b\":1}":{}})"));
  EXPECT_EQ(keys_element(parsed(R"({"b":1,"a":"x"})")), R"(k:{"a":"x","b":1})");
  EXPECT_EQ(value_element(Json("x")), R"(v:"x")");
  EXPECT_EQ(member_element("a.b/c"), "f:a.b/c");
}

TEST(FieldSet, WhatIsNoElementIsRefused) {
  for (const char* text :
       {"5", "[]", R"({"a":{}})", R"({"x:a":{}})", R"({"k:[]":{}})", R"({"k:{":{}})",
        R"({"v:":{}})", R"({"i:x":{}})", R"({"f:a":5})", R"({"":{}})"}) {
    EXPECT_FALSE(parse_fields_v1(parsed(text)).ok()) << text;
  }
}

TEST(FieldSet, PathsReadAsInMessages) {
  EXPECT_THAT(
      set_of(R"({"f:spec":{"f:x":{},"f:l":{"k:{\"name\":\"a\",\"port\":80}":{".":{},"f:v":{}},
                         "v:\"s\"":{},"i:2":{}}}})")
          .paths(),
      ElementsAre(".spec.l[2]", ".spec.l[name=\"a\",port=80]", ".spec.l[name=\"a\",port=80].v",
                  ".spec.l[=\"s\"]", ".spec.x"));
}

TEST(FieldSet, SetsAreAddedSubtractedAndIntersected) {
  const FieldSet a = set_of(R"({"f:a":{".":{},"f:x":{}},"f:b":{}})");
  const FieldSet b = set_of(R"({"f:a":{"f:x":{},"f:y":{}},"f:c":{}})");
  FieldSet both = a;
  both.add(b);
  EXPECT_EQ(both, set_of(R"({"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{},"f:c":{}})"));
  EXPECT_EQ(a.common(b), set_of(R"({"f:a":{"f:x":{}}})"));
  FieldSet rest = a;
  rest.subtract(b);
  EXPECT_EQ(rest, set_of(R"({"f:a":{},"f:b":{}})"));
  rest.subtract(a);
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace meridian::kube
