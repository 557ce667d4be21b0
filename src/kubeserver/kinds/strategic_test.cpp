// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/strategic.h"

#include <gtest/gtest.h>

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;

std::string patched(std::string_view target, std::string_view patch) {
  const auto result = apply_strategic_patch(*base::parse_json(target), *base::parse_json(patch));
  return result ? base::to_text(*result, base::JsonStyle::sorted) : "! " + result.error();
}

TEST(StrategicPatch, MapsMergeAndNullsDelete) {
  EXPECT_EQ(patched(R"({"data":{"a":"1","b":"2"}})", R"({"data":{"b":null,"c":"3"}})"),
            R"({"data":{"a":"1","c":"3"}})");
  EXPECT_EQ(patched(R"({})", R"({"data":{"a":{"b":"1"}}})"), R"({"data":{"a":{"b":"1"}}})");
}

TEST(StrategicPatch, KnownListsMergeByTheirKey) {
  EXPECT_EQ(patched(R"({"secrets":[{"name":"a","x":"1"},{"name":"b"}]})",
                    R"({"secrets":[{"name":"a","y":"2"},{"name":"c"}]})"),
            R"({"secrets":[{"name":"a","x":"1","y":"2"},{"name":"b"},{"name":"c"}]})");
  EXPECT_EQ(patched(R"({"secrets":[{"name":"a"},{"name":"b"}]})",
                    R"({"secrets":[{"$patch":"delete","name":"a"}]})"),
            R"({"secrets":[{"name":"b"}]})");
  EXPECT_EQ(patched(R"({"secrets":[{"name":"a"},{"name":"b"}]})",
                    R"({"secrets":[{"name":"c"},{"$patch":"replace"}]})"),
            R"({"secrets":[{"name":"c"}]})");
}

TEST(StrategicPatch, FinalizersAreASet) {
  EXPECT_EQ(
      patched(R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["a","b"]}})"),
      R"({"metadata":{"finalizers":["a","b"]}})");
  EXPECT_EQ(patched(R"({"metadata":{"finalizers":["a","b"]}})",
                    R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})"),
            R"({"metadata":{"finalizers":["b"]}})");
}

TEST(StrategicPatch, OtherListsAreReplaced) {
  EXPECT_EQ(patched(R"({"list":["a","b"]})", R"({"list":["c"]})"), R"({"list":["c"]})");
}

TEST(StrategicPatch, DirectivesAreObeyed) {
  EXPECT_EQ(patched(R"({"data":{"a":"1"}})", R"({"data":{"$patch":"replace","b":"2"}})"),
            R"({"data":{"b":"2"}})");
  EXPECT_EQ(patched(R"({"data":{"a":"1"},"x":1})", R"({"data":{"$patch":"delete"}})"),
            R"({"x":1})");
  EXPECT_EQ(patched(R"({"a":1,"b":2,"c":3})", R"({"$retainKeys":["b","d"],"d":4})"),
            R"({"b":2,"d":4})");
  EXPECT_EQ(patched(R"({"secrets":[{"name":"a"},{"name":"b"}]})",
                    R"({"$setElementOrder/secrets":[{"name":"b"},{"name":"a"}]})"),
            R"({"secrets":[{"name":"b"},{"name":"a"}]})");
  EXPECT_EQ(patched("{}", R"({"$unknown":1})"), "! unknown directive $unknown");
  EXPECT_EQ(patched("{}", "[]"), "! a strategic merge patch must be an object");
}

}  // namespace
}  // namespace meridian::kubeserver::kinds
