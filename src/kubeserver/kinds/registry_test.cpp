// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kubeserver/kinds/builtin.h"
#include "kubeserver/kinds/tables.h"

namespace meridian::kubeserver::kinds {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;

TEST(Registry, VersionsComeInTheirPriority) {
  std::vector<std::string> versions{"v10beta3", "foo1", "v1", "v11alpha2", "v3beta1",
                                    "foo10",    "v10",  "v2", "v12alpha1", "v11beta2"};
  std::ranges::sort(versions, is_preferred_version);
  EXPECT_THAT(versions, ElementsAre("v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1",
                                    "v12alpha1", "v11alpha2", "foo1", "foo10"));
}

TEST(Registry, BuiltInResourcesAreFoundByGroupVersionAndPlural) {
  const Registry registry(builtin_resources());
  EXPECT_EQ(registry.find("", "v1", "configmaps")->resource.kind, "ConfigMap");
  EXPECT_EQ(registry.find("events.k8s.io", "v1", "events")->collection, "core/events");
  EXPECT_FALSE(registry.find("", "v2", "configmaps"));
  EXPECT_EQ(registry.find_kind("coordination.k8s.io", "Lease")->plural(), "leases");
  EXPECT_EQ(registry.groups().front().name, "");
  const auto collections = registry.collections();
  EXPECT_EQ(std::ranges::count(collections, "core/events",
                               [](const ServedPtr& s) { return s->collection; }),
            1);
}

TEST(Registry, NothingIsServedBeforeADefinitionIsEstablished) {
  EXPECT_TRUE(served_by(JsonObject{{"metadata", JsonObject{{"name", "x"}}}}).empty());
}

TEST(Events, HaveTwoFormsAndOneStorage) {
  const Json core = JsonObject{{"apiVersion", "v1"},
                               {"kind", "Event"},
                               {"message", "m"},
                               {"involvedObject", JsonObject{{"name", "a"}}},
                               {"reportingComponent", "c"},
                               {"count", 3}};
  const Json other = kEventsEvent.from_stored(core);
  EXPECT_EQ(base::string_or(other, "note"), "m");
  EXPECT_EQ(base::string_or(other, "reportingController"), "c");
  EXPECT_EQ(base::int_or(other, "deprecatedCount", 0), 3);
  EXPECT_EQ(base::string_or(*base::find(other, "regarding"), "name"), "a");
  EXPECT_EQ(kEventsEvent.to_stored(other), core);
}

TEST(Tables, EveryKindHasACellForEachColumn) {
  const Json object = JsonObject{{"metadata", JsonObject{{"name", "n"}}}};
  for (const ServedPtr& served : builtin_resources()) {
    if (!served->is_stored()) continue;
    const Json table = make_table(*served, {object}, {}, kube::RowObject::none);
    EXPECT_EQ(table.at("columnDefinitions").as_array().size(),
              table.at("rows").as_array()[0].at("cells").as_array().size())
        << served->resource.kind;
  }
}

TEST(Secrets, TextBecomesDataAndIsNotKept) {
  Json secret = JsonObject{{"data", JsonObject{{"a", "YQ=="}, {"b", "YQ=="}}},
                           {"stringData", JsonObject{{"b", "text"}}}};
  kSecret.prepare(secret, nullptr);
  EXPECT_EQ(secret.at("data"), Json({{"a", "YQ=="}, {"b", "dGV4dA=="}}));
  EXPECT_EQ(base::find(secret, "stringData"), nullptr);
  EXPECT_EQ(base::string_or(secret, "type"), "Opaque");
}

TEST(Secrets, WhatIsWrongIsToldWithoutTheValue) {
  std::vector<kube::Cause> causes;
  kSecret.check(JsonObject{{"data", JsonObject{{"k", "hunter2!"}}}}, nullptr, causes);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].field, "data[k]");
  EXPECT_THAT(causes[0].message, testing::Not(testing::HasSubstr("hunter2")));
}

}  // namespace
}  // namespace meridian::kubeserver::kinds
