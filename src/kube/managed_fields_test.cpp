// SPDX-License-Identifier: Apache-2.0
#include "kube/managed_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/yaml.h"
#include "kube/field_walk.h"
#include "kube/managers.h"
#include "kube/object.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

Json yaml(std::string_view text) {
  const auto documents = base::parse_yaml(text);
  EXPECT_TRUE(documents.ok()) << text << ": " << (documents ? "" : documents.error().text());
  return documents ? documents->front().value : Json();
}

const Schema& schema() {
  static const Schema parsed = *parse_schema(yaml(R"(
type: object
properties:
  spec:
    type: object
    properties:
      x: {type: integer}
      y: {type: string}
      plain: {type: array, items: {type: string}}
      set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      map:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {type: object, required: [name], properties: {name: {type: string}, v: {type: integer}}}
      labels: {type: object, additionalProperties: {type: string}}
      whole: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
      sub: {type: object, properties: {a: {type: integer}, b: {type: integer}}}
)"));
  return parsed;
}

constexpr base::Timestamp t0{1'769'860'800'000};
const Manager kubectl{"kubectl", "g/v1", ""};
const Manager other{"other", "g/v1", ""};

Json apply(const Json* live, std::string_view applied, const Manager& manager = kubectl,
           Force force = Force::no, base::Timestamp now = t0) {
  return apply_server_side(live, yaml(applied), manager, force, &schema(), now);
}
Json apply(const Json& live, std::string_view applied, const Manager& manager = kubectl,
           Force force = Force::no, base::Timestamp now = t0) {
  return apply(&live, applied, manager, force, now);
}

Json update(const Json& before, std::string_view after, const Manager& manager = other) {
  Json out = yaml(after);
  track_update(&before, out, manager, &schema(), t0);
  return out;
}

Json spec(const Json& object) { return object.at("spec"); }

// The paths that this manager owns.
Texts owned(const Json& object, const std::string& name) {
  FieldSet all;
  for (const auto& [key, ownership] : read_managers(object)) {
    if (key.name == name) all.add(ownership.fields);
  }
  return all.paths();
}

TEST(ServerSideApply, CreatesWithTheAppliersOwnership) {
  const Json made = apply(nullptr,
                          "{apiVersion: g/v1, kind: K, metadata: {name: a, labels: {l: m}}, "
                          "spec: {x: 1, plain: [p], set: [s], map: [{name: n, v: 2}]}}");
  EXPECT_THAT(
      owned(made, "kubectl"),
      ElementsAre(".metadata.labels.l", ".spec.map[name=\"n\"]", ".spec.map[name=\"n\"].name",
                  ".spec.map[name=\"n\"].v", ".spec.plain", ".spec.set[=\"s\"]", ".spec.x"));
  const Json& entry = made.at("metadata").at("managedFields").at(0);
  EXPECT_EQ(entry.at("manager"), "kubectl");
  EXPECT_EQ(entry.at("operation"), "Apply");
  EXPECT_EQ(entry.at("apiVersion"), "g/v1");
  EXPECT_EQ(entry.at("fieldsType"), "FieldsV1");
  EXPECT_EQ(entry.at("time"), "2026-01-31T12:00:00Z");
}

TEST(ServerSideApply, AgainChangesNothingNotEvenTheTime) {
  const char* applied = "{metadata: {name: a}, spec: {x: 1, map: [{name: n}], whole: {k: v}}}";
  const Json made = apply(nullptr, applied);
  EXPECT_EQ(apply(made, applied, kubectl, Force::no, t0 + std::chrono::hours(1)), made);
}

TEST(ServerSideApply, WhatIsLeftOutGoesUnlessSomeoneElseOwnsIt) {
  Json live = apply(nullptr,
                    "{spec: {x: 1, y: a, set: [p, q], map: [{name: m, v: 1}, {name: n}], sub: "
                    "{a: 1}, labels: {k: v}}}");
  live = apply(live, "{spec: {y: a, set: [q]}}", other);
  live = apply(live, "{spec: {map: [{name: n}]}}");
  EXPECT_EQ(spec(live), yaml("{y: a, set: [q], map: [{name: n}]}"));
  EXPECT_THAT(owned(live, "other"), ElementsAre(".spec.set[=\"q\"]", ".spec.y"));
}

TEST(ServerSideApply, WhatNobodyAppliedStays) {
  Json live = yaml("{spec: {y: default, sub: {b: 2}}}");
  live = apply(live, "{spec: {x: 1, sub: {a: 1}}}");
  live = apply(live, "{spec: {x: 1}}");
  EXPECT_EQ(spec(live), yaml("{y: default, sub: {b: 2}, x: 1}"));
}

TEST(ServerSideApply, AConflictNamesManagerAndField) {
  Json live;
  live = update(yaml("{}"), "{spec: {x: 1, y: a}}", {"kubectl-client-side-apply", "g/v1", ""});
  try {
    apply(live, "{spec: {x: 2}}");
    FAIL() << "no conflict";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), 409);
    EXPECT_EQ(error.reason(), "Conflict");
    EXPECT_EQ(error.message(),
              "Apply failed with 1 conflict: conflict with "
              "\"kubectl-client-side-apply\" using g/v1: .spec.x");
    ASSERT_EQ(error.details().causes.size(), 1u);
    EXPECT_EQ(error.details().causes[0].reason, "FieldManagerConflict");
    EXPECT_EQ(error.details().causes[0].field, ".spec.x");
    EXPECT_EQ(error.details().causes[0].message,
              "conflict with \"kubectl-client-side-apply\" using g/v1");
  }
  live = apply(live, "{spec: {set: [s]}}", {"third", "g/v1", "status"});
  live = apply(live, "{spec: {plain: [p]}}", {"fourth", "g/v1", "status"});
  try {
    apply(live, "{spec: {x: 2, y: b, plain: [q]}}");
    FAIL() << "no conflict";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.message(),
              "Apply failed with 3 conflicts: conflicts with \"fourth\" with "
              "subresource \"status\":\n- .spec.plain\nconflicts with "
              "\"kubectl-client-side-apply\" using g/v1:\n- .spec.x\n- .spec.y");
    EXPECT_EQ(error.details().causes.size(), 3u);
  }
}

TEST(ServerSideApply, TheSameValueIsSharedWithoutConflict) {
  Json live = apply(nullptr, "{spec: {x: 1}}");
  live = apply(live, "{spec: {x: 1}}", other);
  EXPECT_THAT(owned(live, "kubectl"), ElementsAre(".spec.x"));
  EXPECT_THAT(owned(live, "other"), ElementsAre(".spec.x"));
  EXPECT_THROW(apply(live, "{spec: {x: 2}}"), StatusError);
  live = apply(live, "{spec: {}}");
  EXPECT_EQ(spec(live), yaml("{x: 1}")) << "the other still wants it";
}

TEST(ServerSideApply, ForceTakesTheField) {
  Json live = apply(nullptr, "{spec: {x: 1, y: a}}", other);
  live = apply(live, "{spec: {x: 2}}", kubectl, Force::yes);
  EXPECT_EQ(spec(live), yaml("{x: 2, y: a}"));
  EXPECT_THAT(owned(live, "other"), ElementsAre(".spec.y"));
  EXPECT_THAT(owned(live, "kubectl"), ElementsAre(".spec.x"));
}

TEST(ServerSideApply, AtomicPartsAreOneField) {
  Json live = apply(nullptr, "{spec: {plain: [a, b], whole: {k: v, l: w}}}", other);
  EXPECT_THAT(owned(live, "other"), ElementsAre(".spec.plain", ".spec.whole"));
  EXPECT_THROW(apply(live, "{spec: {plain: [a]}}"), StatusError);
  EXPECT_THROW(apply(live, "{spec: {whole: {k: v}}}"), StatusError);
  live = apply(live, "{spec: {plain: [c], whole: {m: x}}}", kubectl, Force::yes);
  EXPECT_EQ(spec(live), yaml("{plain: [c], whole: {m: x}}"));
  EXPECT_TRUE(owned(live, "other").empty());
}

TEST(ServerSideApply, ListsOfMapsAndSetsKeepTheItemsOfOthersInPlace) {
  Json live =
      apply(nullptr, "{spec: {map: [{name: a}, {name: b}, {name: c}], set: [p, q]}}", other);
  live = apply(live, "{spec: {map: [{name: z}, {name: b, v: 1}], set: [r, p]}}");
  EXPECT_EQ(spec(live),
            yaml("{map: [{name: z}, {name: a}, {name: b, v: 1}, {name: c}], set: [r, p, q]}"));
  live = apply(live, "{spec: {map: [{name: b}]}}");
  EXPECT_EQ(spec(live), yaml("{map: [{name: a}, {name: b}, {name: c}], set: [p, q]}"));
}

TEST(ServerSideApply, WithoutASchemaListsAreAtomicAndMapsAreNot) {
  const Json applied = yaml("{data: {a: 1, b: {c: 2}}, list: [{name: x}]}");
  const Json made = apply_server_side(nullptr, applied, kubectl, Force::no, nullptr, t0);
  EXPECT_THAT(owned(made, "kubectl"),
              ElementsAre(".data", ".data.a", ".data.b", ".data.b.c", ".list"));
}

TEST(ServerSideApply, MetadataHasListsOfItsOwn) {
  Json live =
      apply(nullptr, "{metadata: {name: a, finalizers: [f], ownerReferences: [{uid: u, name: p}]}}",
            other);
  live = apply(live,
               "{metadata: {name: a, finalizers: [g], ownerReferences: [{uid: w, name: q}], "
               "annotations: {n: m}}}");
  EXPECT_EQ(finalizers_of(live), (Texts{"g", "f"}));
  EXPECT_EQ(owners_of(live).size(), 2u);
  EXPECT_THAT(owned(live, "kubectl"),
              ElementsAre(".metadata.annotations.n", ".metadata.finalizers[=\"g\"]",
                          ".metadata.ownerReferences[uid=\"w\"]"));
}

TEST(ServerSideApply, WhatCannotBeAppliedIsRefused) {
  EXPECT_THROW(apply(nullptr, "{metadata: {managedFields: []}}"), StatusError);
  EXPECT_THROW(apply(nullptr, "{spec: {map: [{name: a}, {name: a}]}}"), StatusError);
  EXPECT_THROW(apply(nullptr, "{spec: {set: [a, a]}}"), StatusError);
  EXPECT_THROW(apply(nullptr, "{spec: {map: [{v: 1}]}}"), StatusError);
}

TEST(TrackUpdate, WhatChangedBelongsToTheWriterAlone) {
  Json live = apply(nullptr, "{spec: {x: 1, y: a, map: [{name: n, v: 1}]}}");
  Json next = live;
  next.at("spec").as_object()["x"] = 2;
  next.at("spec").at("map").at(0).as_object()["v"] = 5;
  next.at("spec").as_object().erase("y");
  track_update(&live, next, other, &schema(), t0 + std::chrono::hours(1));
  EXPECT_THAT(owned(next, "other"), ElementsAre(".spec.map[name=\"n\"].v", ".spec.x"));
  EXPECT_THAT(owned(next, "kubectl"),
              ElementsAre(".spec.map[name=\"n\"]", ".spec.map[name=\"n\"].name"));
  EXPECT_EQ(next.at("metadata").at("managedFields").at(1).at("operation"), "Update");
  EXPECT_EQ(next.at("metadata").at("managedFields").at(1).at("time"), "2026-01-31T13:00:00Z");
  EXPECT_EQ(next.at("metadata").at("managedFields").at(0).at("time"), "2026-01-31T12:00:00Z");
}

TEST(TrackUpdate, AWriteThatChangesNothingOwnsNothing) {
  Json live = apply(nullptr, "{spec: {x: 1}}");
  Json next = live;
  track_update(&live, next, other, &schema(), t0 + std::chrono::hours(1));
  EXPECT_EQ(next, live);
}

TEST(TrackUpdate, ACreatedObjectIsItsWritersWhole) {
  Json made =
      yaml("{apiVersion: g/v1, kind: K, metadata: {name: a, labels: {l: m}}, spec: {x: 1}}");
  track_update(nullptr, made, other, &schema(), t0);
  EXPECT_THAT(owned(made, "other"),
              ElementsAre(".metadata.labels", ".metadata.labels.l", ".spec", ".spec.x"));
}

TEST(TrackUpdate, ManagedFieldsThatComeWithTheWriteCount) {
  const Json live = apply(nullptr, "{metadata: {name: a}, spec: {x: 1}}");
  Json renamed = live;
  renamed.at("metadata").at("managedFields").at(0).as_object()["manager"] = "renamed";
  track_update(&live, renamed, other, &schema(), t0);
  EXPECT_THAT(owned(renamed, "renamed"), ElementsAre(".spec.x"));
  EXPECT_TRUE(owned(renamed, "kubectl").empty());
  Json kept = live;
  kept.at("metadata").as_object()["managedFields"].emplace_array();
  track_update(&live, kept, other, &schema(), t0);
  EXPECT_EQ(kept, live);
  Json reset = live;
  reset.at("metadata").as_object()["managedFields"] = yaml("[{}]");
  track_update(&live, reset, other, &schema(), t0);
  EXPECT_FALSE(reset.at("metadata").as_object().contains("managedFields"));
}

TEST(TrackUpdate, OldUpdatersBecomeAncientChanges) {
  Json live = yaml("{spec: {labels: {}}}");
  for (int i = 0; i < 15; ++i) {
    Json next = live;
    const std::string name = "m" + std::to_string(i);
    next.at("spec").at("labels").as_object()[name] = "v";
    track_update(&live, next, {name, "g/v1", ""}, &schema(), t0 + std::chrono::seconds(i));
    live = next;
  }
  EXPECT_EQ(live.at("metadata").at("managedFields").as_array().size(), 10u);
  EXPECT_EQ(owned(live, "ancient-changes").size(), 6u);
  EXPECT_THAT(owned(live, "m14"), ElementsAre(".spec.labels.m14"));
}

TEST(Managers, BrokenEntriesOwnNothing) {
  EXPECT_TRUE(read_managers(yaml("{metadata: {managedFields: 5}}")).empty());
  EXPECT_TRUE(
      read_managers(yaml("{metadata: {managedFields: [5, {}, {fieldsV1: {x: {}}}]}}")).empty());
}

// Random objects of the schema above.
std::string random_spec(std::mt19937_64& random) {
  const auto pick = [&](int n) { return std::to_string(random() % n); };
  std::string out = "{spec: {";
  if (random() % 2) out += "x: " + pick(3) + ", ";
  if (random() % 2) out += "y: s" + pick(2) + ", ";
  if (random() % 2) out += "plain: [p" + pick(2) + "], ";
  if (random() % 2) out += random() % 2 ? "set: [a, b], " : "set: [b, c], ";
  if (random() % 2) out += "map: [{name: m" + pick(3) + ", v: " + pick(2) + "}, {name: z}], ";
  if (random() % 2) out += "labels: {l" + pick(3) + ": v" + pick(2) + "}, ";
  if (random() % 2) out += "whole: {w: v" + pick(2) + "}, ";
  if (random() % 2) out += "sub: {a: " + pick(2) + "}, ";
  return out + "}}";
}

// Whether all that is owned is there.
bool owns_only_what_exists(const Json& object) {
  FieldSet there = compare_fields(&schema(), yaml("{}"), object).added;
  for (const auto& [key, ownership] : read_managers(object)) {
    FieldSet missing = ownership.fields;
    missing.subtract(there);
    if (!missing.empty()) return false;
  }
  return true;
}

TEST(ServerSideApply, HoldsItsPromisesOverRandomHistories) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    Json live = yaml("{}");
    for (int step = 0; step < 8; ++step) {
      const Manager manager{"m" + std::to_string(random() % 3), "g/v1", ""};
      const std::string text = random_spec(random);
      const Json before = live;
      if (random() % 3 == 0) {
        live = yaml(text);
        track_update(&before, live, manager, &schema(), t0);
      } else {
        live = apply(before, text, manager, Force::yes);
        ASSERT_EQ(apply(live, text, manager, Force::no), live) << "seed " << seed << ": " << text;
        const Json applied = yaml(text);
        ASSERT_TRUE(same_value(merge_fields(&schema(), live, applied), live)) << "seed " << seed;
      }
      ASSERT_TRUE(owns_only_what_exists(live)) << "seed " << seed << ": " << base::to_text(live);
      const Changes changes = compare_fields(&schema(), before, live);
      for (const auto& [key, ownership] : read_managers(live)) {
        if (key.name == manager.name) continue;
        FieldSet changed = changes.modified;
        ASSERT_TRUE(changed.common(ownership.fields).empty()) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace meridian::kube
