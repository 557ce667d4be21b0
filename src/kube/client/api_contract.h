// What every Api must do: the same tests for the fake, for HttpApi and for the embedded server.
//
//   INSTANTIATE_TEST_SUITE_P(Fake, ApiContract, ::testing::Values(make_fake));
//
// The factory starts a server that serves contract_crd() and returns an Api on it. Include this
// header in one test file of a program only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "base/yaml.h"
#include "kube/client/api.h"

namespace meridian::kube {

inline base::Json contract_crd() {
  return base::parse_yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.contract.example.com}
spec:
  group: contract.example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 0}
              mode: {type: string, default: plain}
              steps:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, n: {type: integer}}}
          status: {type: object, properties: {phase: {type: string}}}
)")
      .value()
      .front()
      .value;
}

// One Api with whatever must live beside it.
class ContractApi {
 public:
  virtual ~ContractApi() = default;
  virtual Api& api() = 0;
};
using ContractFactory = std::function<std::unique_ptr<ContractApi>()>;

class ApiContract : public ::testing::TestWithParam<ContractFactory> {
 protected:
  using Json = base::Json;

  void SetUp() override { held_ = GetParam()(); }
  Api& api() { return held_->api(); }

  static Json thing(const std::string& name, const std::string& spec = "{}",
                    const std::string& metadata = "") {
    return base::parse_yaml(
               "{apiVersion: contract.example.com/v1, kind: Thing, metadata: {name: '" + name +
               "', namespace: default" + metadata + "}, spec: " + spec + "}")
        .value()
        .front()
        .value;
  }
  static ObjectKey key(const std::string& name) { return {"default", name}; }
  Json create(const std::string& name, const std::string& spec = "{}",
              const std::string& metadata = "") {
    return api().create(things_, thing(name, spec, metadata));
  }
  static Json json(const std::string& text) { return base::parse_json(text).value(); }

  // The status of the StatusError that `work` throws; 0 without one.
  template <class Work>
  static int status_of(Work work) {
    try {
      work();
    } catch (const StatusError& error) {
      return error.status();
    }
    return 0;
  }

  // The first `count` events from `revision` on, bookmarks left out: "added a".
  std::vector<std::string> events(const std::string& revision, std::size_t count,
                                  const std::string& labels = "") {
    static constexpr const char* names[] = {"added", "modified", "deleted", "bookmark"};
    std::vector<std::string> out;
    WatchOptions options{.label_selector = labels, .resource_version = revision};
    options.timeout = std::chrono::seconds(20);
    if (count == 0) return out;
    api().watch(things_, "default", options,
                [&](const WatchEvent& event) {
                  if (event.type != WatchEvent::Type::bookmark) {
                    out.push_back(std::string(names[static_cast<int>(event.type)]) + " " +
                                  name_of(event.object));
                  }
                  return out.size() < count;
                },
                {});
    return out;
  }
  std::set<std::string> names(const ListOptions& options = {}, const std::string& ns = "default") {
    std::set<std::string> out;
    for (const Json& item : api().list(things_, ns, options).items) out.insert(name_of(item));
    return out;
  }

  const ResourceId things_{"contract.example.com", "v1", "things"};
  std::unique_ptr<ContractApi> held_;
};

TEST_P(ApiContract, ACreatedObjectGetsItsIdentityAndDefaults) {
  const Json made = create("a", "{size: 1}");
  EXPECT_FALSE(uid_of(made).empty());
  EXPECT_FALSE(resource_version_of(made).empty());
  EXPECT_EQ(generation_of(made), 1);
  EXPECT_TRUE(parse_time(base::string_or(made.at("metadata"), "creationTimestamp")));
  EXPECT_EQ(made.at("spec"), json(R"({"size":1,"mode":"plain"})"));
  EXPECT_EQ(api().get(things_, key("a")), made);
}

TEST_P(ApiContract, CreatingTwiceIsRefused) {
  create("a");
  EXPECT_EQ(status_of([&] { create("a"); }), 409);
  EXPECT_EQ(status_of([&] { create("B c"); }), 422);
  EXPECT_EQ(status_of([&] { create("b", "{size: -1}"); }), 422);
}

TEST_P(ApiContract, AGeneratedNameIsNew) {
  const std::string prefix = ", generateName: run-";
  const std::string first = name_of(create("", "{}", prefix));
  const std::string second = name_of(create("", "{}", prefix));
  EXPECT_TRUE(first.starts_with("run-"));
  EXPECT_EQ(first.size(), 9u);
  EXPECT_NE(first, second);
}

TEST_P(ApiContract, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(status_of([&] { api().get(things_, key("a")); }), 404);
  EXPECT_FALSE(api().find(things_, key("a")));
  EXPECT_EQ(status_of([&] { api().remove(things_, key("a")); }), 404);
  EXPECT_EQ(status_of([&] { api().patch(things_, key("a"), PatchType::merge, json("{}")); }), 404);
  create("a");
  EXPECT_TRUE(api().find(things_, key("a")));
}

TEST_P(ApiContract, AnUpdateNeedsTheNewestRevision) {
  Json old = create("a");
  Json next = old;
  next.at("spec").as_object()["size"] = 2;
  next = api().update(things_, next);
  EXPECT_NE(resource_version_of(next), resource_version_of(old));
  EXPECT_EQ(generation_of(next), 2);
  EXPECT_EQ(uid_of(next), uid_of(old));
  old.at("spec").as_object()["size"] = 3;
  EXPECT_EQ(status_of([&] { api().update(things_, old); }), 409);
  EXPECT_EQ(api().get(things_, key("a")).at("spec").at("size"), 2);
}

TEST_P(ApiContract, AnUpdateThatChangesNothingWritesNothing) {
  const Json made = create("a", "{size: 1}");
  EXPECT_EQ(resource_version_of(api().update(things_, made)), resource_version_of(made));
}

TEST_P(ApiContract, StatusAndTheRestAreWrittenApart) {
  Json object = create("a", "{size: 1}");
  object.as_object()["status"] = json(R"({"phase":"Running"})");
  object.at("spec").as_object()["size"] = 7;
  object = api().update_status(things_, object);
  EXPECT_EQ(object.at("status").at("phase"), "Running");
  EXPECT_EQ(object.at("spec").at("size"), 1);
  EXPECT_EQ(generation_of(object), 1);
  object.at("status").as_object()["phase"] = "Done";
  object.at("spec").as_object()["size"] = 8;
  object = api().update(things_, object);
  EXPECT_EQ(object.at("status").at("phase"), "Running");
  EXPECT_EQ(object.at("spec").at("size"), 8);
  const Json patched =
      api().patch(things_, key("a"), PatchType::merge,
                  json(R"({"status":{"phase":"Done"},"spec":{"size":9}})"), {}, "status");
  EXPECT_EQ(patched.at("status").at("phase"), "Done");
  EXPECT_EQ(patched.at("spec").at("size"), 8);
}

TEST_P(ApiContract, PatchesChangeWhatTheyName) {
  create("a", "{size: 1}");
  Json object = api().patch(things_, key("a"), PatchType::merge,
                            json(R"({"metadata":{"labels":{"l":"m"}},"spec":{"mode":null}})"));
  EXPECT_EQ(find_label(object, "l"), "m");
  EXPECT_EQ(object.at("spec").at("mode"), "plain") << "the default came back";
  object = api().patch(things_, key("a"), PatchType::json,
                       json(R"([{"op":"test","path":"/spec/size","value":1},
                                {"op":"replace","path":"/spec/size","value":5}])"));
  EXPECT_EQ(object.at("spec").at("size"), 5);
  EXPECT_EQ(status_of([&] {
              api().patch(things_, key("a"), PatchType::json,
                          json(R"([{"op":"test","path":"/spec/size","value":1}])"));
            }),
            422);
  EXPECT_EQ(status_of([&] {
              api().patch(things_, key("a"), PatchType::merge,
                          json(R"({"metadata":{"resourceVersion":"1"},"spec":{"size":6}})"));
            }),
            409);
  EXPECT_EQ(status_of([&] {
              api().patch(things_, key("a"), PatchType::merge, json(R"({"spec":{"size":-1}})"));
            }),
            422);
}

TEST_P(ApiContract, ApplyCreatesMergesAndKnowsConflicts) {
  const PatchOptions mine{.field_manager = "mine"};
  const PatchOptions yours{.field_manager = "yours"};
  const auto apply = [&](const std::string& spec, PatchOptions options,
                         PatchOptions::Force force = PatchOptions::Force::no) {
    options.force = force;
    return api().patch(things_, key("a"), PatchType::apply, thing("a", spec), options);
  };
  Json object = apply("{size: 1, steps: [{name: x, n: 1}]}", mine);
  EXPECT_EQ(object.at("spec").at("size"), 1);
  EXPECT_EQ(apply("{size: 1, steps: [{name: x, n: 1}]}", mine), object);
  object = apply("{steps: [{name: y}]}", yours);
  EXPECT_EQ(object.at("spec").at("steps").as_array().size(), 2u);
  EXPECT_EQ(status_of([&] { apply("{size: 2}", yours); }), 409);
  object = apply("{size: 2}", yours, PatchOptions::Force::yes);
  EXPECT_EQ(object.at("spec").at("size"), 2);
  EXPECT_EQ(object.at("spec").at("steps").as_array().size(), 1u) << "y was left out";
}

TEST_P(ApiContract, ListsSelect) {
  create("a", "{}", ", labels: {team: x}");
  create("b", "{}", ", labels: {team: y}");
  create("c");
  using Names = std::set<std::string>;
  EXPECT_EQ(names(), (Names{"a", "b", "c"}));
  EXPECT_EQ(names({}, ""), (Names{"a", "b", "c"}));
  EXPECT_EQ(names({}, "elsewhere"), Names{});
  EXPECT_EQ(names({.label_selector = "team in (x,y),team!=y"}), Names{"a"});
  EXPECT_EQ(names({.field_selector = "metadata.name=b"}), Names{"b"});
  EXPECT_EQ(names({.limit = 1}), (Names{"a", "b", "c"}));
  EXPECT_EQ(status_of([&] { names({.label_selector = "a b"}); }), 400);
  EXPECT_EQ(kind_of(api().list(things_, "default").items.front()), "Thing");
}

TEST_P(ApiContract, AWatchFromAListMissesNothing) {
  create("before");
  const std::string revision = api().list(things_, "default").resource_version;
  create("a");
  api().patch(things_, key("a"), PatchType::merge, json(R"({"spec":{"size":1}})"));
  api().remove(things_, key("a"));
  EXPECT_THAT(events(revision, 3), ::testing::ElementsAre("added a", "modified a", "deleted a"));
}

TEST_P(ApiContract, AWatchWaitsForWhatComes) {
  const std::string revision = api().list(things_, "default").resource_version;
  std::vector<std::string> seen;
  std::thread watcher([&] { seen = events(revision, 2); });
  create("a");
  create("b");
  watcher.join();
  EXPECT_THAT(seen, ::testing::ElementsAre("added a", "added b"));
}

TEST_P(ApiContract, ASelectiveWatchSeesObjectsComeAndGo) {
  const std::string revision = api().list(things_, "default").resource_version;
  create("a", "{}", ", labels: {team: y}");
  const auto label = [&](const std::string& team) {
    api().patch(things_, key("a"), PatchType::merge,
                json(R"({"metadata":{"labels":{"team":")" + team + "\"}}}"));
  };
  label("x");
  label("y");
  EXPECT_THAT(events(revision, 2, "team=x"), ::testing::ElementsAre("added a", "deleted a"));
}

TEST_P(ApiContract, AWatchEndsWhenStopped) {
  const std::string revision = api().list(things_, "default").resource_version;
  std::jthread watcher([&](std::stop_token stop) {
    WatchOptions options{.resource_version = revision};
    options.timeout = std::chrono::seconds(600);
    api().watch(things_, "default", options, [](const WatchEvent&) { return true; }, stop);
  });
  create("a");
}

TEST_P(ApiContract, FinalizersHoldAnObject) {
  create("a", "{}", ", finalizers: [example.com/hold]");
  api().remove(things_, key("a"));
  Json held = api().get(things_, key("a"));
  EXPECT_TRUE(is_deleting(held));
  api().remove(things_, key("a"));
  EXPECT_TRUE(api().find(things_, key("a")));
  remove_finalizer(held, "example.com/hold");
  held.at("metadata").as_object()["resourceVersion"] =
      resource_version_of(api().get(things_, key("a")));
  api().update(things_, held);
  EXPECT_FALSE(api().find(things_, key("a")));
}

TEST_P(ApiContract, RemovalCanNameTheObjectItMeans) {
  const std::string uid = uid_of(create("a"));
  EXPECT_EQ(status_of([&] {
              api().remove(things_, key("a"), Propagation::background,
                           "11111111-2222-4333-8444-555555555555");
            }),
            409);
  api().remove(things_, key("a"), Propagation::background, uid);
  EXPECT_FALSE(api().find(things_, key("a")));
}

TEST_P(ApiContract, ChildrenGoWithTheirOwner) {
  for (const Propagation propagation : {Propagation::background, Propagation::foreground}) {
    Json child = thing("child");
    const Json parent = create("parent");
    add_owner(child, {.api_version = "contract.example.com/v1",
                      .kind = "Thing",
                      .name = "parent",
                      .uid = uid_of(parent)});
    api().create(things_, child);
    const std::string revision = api().list(things_, "default").resource_version;
    api().remove(things_, key("parent"), propagation);
    // A server may take its time, and mark objects before they go.
    std::set<std::string> gone;
    WatchOptions options{.resource_version = revision};
    options.timeout = std::chrono::seconds(20);
    api().watch(things_, "default", options,
                [&](const WatchEvent& event) {
                  if (event.type == WatchEvent::Type::deleted) gone.insert(name_of(event.object));
                  return gone.size() < 2;
                },
                {});
    EXPECT_EQ(gone, (std::set<std::string>{"parent", "child"}));
  }
}

TEST_P(ApiContract, OrphansStay) {
  Json child = thing("child");
  add_owner(child, {.api_version = "contract.example.com/v1",
                    .kind = "Thing",
                    .name = "parent",
                    .uid = uid_of(create("parent"))});
  api().create(things_, child);
  const std::string revision = api().list(things_, "default").resource_version;
  api().remove(things_, key("parent"), Propagation::orphan);
  WatchOptions options{.resource_version = revision};
  options.timeout = std::chrono::seconds(20);
  api().watch(things_, "default", options,
              [&](const WatchEvent& event) { return event.type != WatchEvent::Type::deleted; }, {});
  const auto orphan = api().find(things_, key("child"));
  ASSERT_TRUE(orphan);
  EXPECT_TRUE(owners_of(*orphan).empty());
}

}  // namespace meridian::kube
