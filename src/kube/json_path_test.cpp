// SPDX-License-Identifier: Apache-2.0
#include "kube/json_path.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using base::Json;

const char* const document = R"({"metadata":{"annotations":{"a.b/c":"x"}},
  "spec":{"list":[{"n":1},{"n":2,"m":"two"}],"empty":null,"a.b":7,"map":{"k":{"v":8}}},
  "status":{"conditions":[{"type":"Complete","status":"False"},{"type":"Ready","status":"True"}]}})";

TEST(JsonPath, LeadsToTheFirstValue) {
  const Json value = base::parse_json(document).value();
  const struct {
    const char *path, *found;
  } cases[] = {
      {".spec.list[0].n", "1"},
      {"{.spec.list[1].m}", "\"two\""},
      {"$.spec.list[1].n", "2"},
      {".spec.list[-1].n", "2"},
      {".spec.list[*].m", "\"two\""},
      {".spec.list[*].n", "1"},
      {".spec.map.*.v", "8"},
      {".spec['a.b']", "7"},
      {".spec.a\\.b", "7"},
      {".metadata.annotations.a\\.b/c", "\"x\""},
      {".status.conditions[?(@.type==\"Ready\")].status", "\"True\""},
      {".status.conditions[?(@.type == 'Complete')].status", "\"False\""},
      {".spec.list[?(@.n==2)].m", "\"two\""},
      {".spec.list[?(@.n==2.0)].m", "\"two\""},
      {".spec.list[9].n", ""},
      {".spec.list.n", ""},
      {".spec[0]", ""},
      {".spec.empty", ""},
      {".nothing.at.all", ""},
      {".status.conditions[?(@.type==\"None\")].status", ""},
  };
  for (const auto& c : cases) {
    const auto path = parse_json_path(c.path);
    ASSERT_TRUE(path.ok()) << c.path << ": " << path.error().text();
    const Json* found = path->find(value);
    EXPECT_EQ(found == nullptr ? "" : base::to_text(*found), c.found) << c.path;
  }
}

TEST(JsonPath, WhatIsNoPathIsRefused) {
  for (const char* text :
       {"", "{}", "$", "spec", ".", ".a.", ".a[", ".a[x]", ".a['x]", ".a[?(@.b>1)]", ".a[?(@.b==1",
        ".a[?(@.==1)]", ".a[?(@.b==)]", ".a[?(@.b=='x')"}) {
    EXPECT_FALSE(parse_json_path(text).ok()) << text;
  }
  std::string deep;
  for (int i = 0; i < 33; ++i) deep += ".a";
  EXPECT_FALSE(parse_json_path(deep).ok());
  EXPECT_FALSE(parse_json_path("." + std::string(2000, 'a')).ok());
}

TEST(JsonPath, PlainPathsHaveAFieldSelectorsName) {
  EXPECT_EQ(parse_json_path(".spec.region")->dotted(), "spec.region");
  EXPECT_EQ(parse_json_path(".spec.list[0]")->dotted(), "");
}

}  // namespace
}  // namespace meridian::kube
