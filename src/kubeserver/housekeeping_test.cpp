// What the server does by itself: dependents, namespaces, definitions, old events.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeserver/objects/housekeeper.h"
#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kMerge = "application/merge-patch+json";

std::string at(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  return found != nullptr && found->is_string() ? std::string(base::view(found->get_string())) : "";
}

class HousekeepingTest : public testing::Test {
 protected:
  HousekeepingTest() { server.create(kDefinitions, job_definition()); }

  Json owned(const std::string& name, const std::vector<Json>& owners, bool blocks = false) {
    JsonArray references;
    for (const Json& owner : owners) {
      references.push_back(JsonObject{{"apiVersion", "example.test/v1"},
                                      {"kind", "Job"},
                                      {"name", at(owner, "metadata.name")},
                                      {"uid", at(owner, "metadata.uid")},
                                      {"blockOwnerDeletion", blocks}});
    }
    Json object = job(name);
    object.as_object()["metadata"].as_object()["ownerReferences"] = std::move(references);
    return object;
  }
  Json make(const Json& object) {
    const Answer answer = server.create(kJobs, object);
    EXPECT_EQ(answer.status, 201) << answer.text;
    return answer.body;
  }
  std::vector<std::string> names(const std::string& where = kJobs) {
    std::vector<std::string> out;
    const Answer list = server.get(where);
    for (const Json& item : list.body.at("items").as_array()) {
      out.push_back(at(item, "metadata.name"));
    }
    return out;
  }
  Answer free(const std::string& name) {
    return server.patch(kJobs + "/" + name, kMerge,
                        JsonObject{{"metadata", JsonObject{{"finalizers", nullptr}}}});
  }
  static Json held(Json object) {
    object.as_object()["metadata"].as_object()["finalizers"] = JsonArray{"example.test/hold"};
    return object;
  }

  TestServer server;
};

TEST_F(HousekeepingTest, DependentsFollowTheirLastOwner) {
  const Json a = make(job("a")), b = make(job("b"));
  make(owned("child", {a, b}));
  make(owned("grandchild", {server.get(kJobs + "/child").body}));
  server.remove(kJobs + "/a");
  server.settle();
  EXPECT_THAT(names(), ElementsAre("b", "child", "grandchild"));
  const Json child = server.get(kJobs + "/child").body;
  EXPECT_EQ(child.at("metadata").at("ownerReferences").as_array().size(), 1u)
      << "the reference to who is gone is dropped";
  server.remove(kJobs + "/b");
  server.settle();
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(HousekeepingTest, AnObjectWithoutAnyOfItsOwnersGoes) {
  const Json owner = make(job("owner"));
  server.remove(kJobs + "/owner");
  server.settle();
  make(owned("late", {owner}));
  server.settle();
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(HousekeepingTest, AnOwnerInAnotherNamespaceIsNone) {
  const Json owner = make(job("owner"));
  server.create("/api/v1/namespaces", JsonObject{{"metadata", {{"name", "other"}}}});
  const std::string there = "/apis/example.test/v1/namespaces/other/jobs";
  server.create(there, owned("child", {owner}));
  server.settle();
  EXPECT_THAT(names(there), ElementsAre());
}

TEST_F(HousekeepingTest, ForegroundWaitsForThoseWhoBlock) {
  const Json owner = make(job("owner"));
  make(held(owned("blocker", {owner}, true)));
  make(held(owned("other", {owner}, false)));
  server.remove(kJobs + "/owner", JsonObject{{"propagationPolicy", "Foreground"}});
  server.settle();
  EXPECT_THAT(names(), ElementsAre("blocker", "other", "owner"));
  EXPECT_NE(at(server.get(kJobs + "/other").body, "metadata.deletionTimestamp"), "");
  free("blocker");
  server.settle();
  EXPECT_THAT(names(), ElementsAre("other"));
}

TEST_F(HousekeepingTest, OrphansLoseTheirOwnerAndStay) {
  const Json owner = make(job("owner"));
  make(owned("child", {owner}));
  server.remove(kJobs + "/owner", JsonObject{{"propagationPolicy", "Orphan"}});
  server.settle();
  EXPECT_THAT(names(), ElementsAre("child"));
  const Json child = server.get(kJobs + "/child").body;
  EXPECT_EQ(base::find_path(child, "metadata.ownerReferences"), nullptr);
}

TEST_F(HousekeepingTest, MoreDependentsThanAStepTakesGoToo) {
  const Json owner = make(job("owner"));
  for (int i = 0; i < 250; ++i) make(owned("c" + std::to_string(i), {owner}));
  server.remove(kJobs + "/owner");
  server.settle();
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(HousekeepingTest, WhatARestartInterruptedIsFinished) {
  const Json owner = make(job("owner"));
  make(owned("child", {owner}));
  server.settle();
  server.remove(kJobs + "/owner");  // and nobody runs the step
  control::StepTable steps;
  control::VirtualRunner runner(server.clock, steps);
  Server again(
      {}, {*server.store, server.tokens, server.clock, server.random, runner, server.admit_all});
  again.register_steps(steps);
  again.start();
  runner.run_until_idle();
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(HousekeepingTest, ANamespaceTakesItsContentAlong) {
  server.create("/api/v1/namespaces", JsonObject{{"metadata", {{"name", "team"}}}});
  const std::string jobs = "/apis/example.test/v1/namespaces/team/jobs";
  server.create(jobs, job("a"));
  server.create(jobs, held(job("b")));
  const Answer going = server.remove("/api/v1/namespaces/team");
  EXPECT_EQ(at(going.body, "status.phase"), "Terminating");
  const Answer late = server.create(jobs, job("c"));
  EXPECT_EQ(late.status, 403);
  EXPECT_THAT(late.text, HasSubstr("NamespaceTerminating"));
  server.settle();
  EXPECT_THAT(names(jobs), ElementsAre("b"));
  EXPECT_THAT(server.get("/api/v1/namespaces/team").text, HasSubstr("example.test/hold"));
  server.patch(jobs + "/b", kMerge, JsonObject{{"metadata", JsonObject{{"finalizers", nullptr}}}});
  server.settle();
  EXPECT_EQ(server.get("/api/v1/namespaces/team").status, 404);
}

TEST_F(HousekeepingTest, SomeNamespacesStay) {
  for (const char* name : {"default", "kube-system"}) {
    EXPECT_EQ(server.remove(std::string("/api/v1/namespaces/") + name).status, 403);
  }
}

TEST_F(HousekeepingTest, ADefinitionTakesItsObjectsAlong) {
  make(job("a"));
  make(held(job("b")));
  server.remove(kDefinitions + "/jobs.example.test");
  EXPECT_EQ(server.create(kJobs, job("c")).status, 405);
  server.settle();
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_THAT(server.get(kDefinitions + "/jobs.example.test").text, HasSubstr("Terminating"));
  free("b");
  server.settle();
  EXPECT_EQ(server.get(kDefinitions + "/jobs.example.test").status, 404);
  EXPECT_EQ(server.get(kJobs).status, 404);
  server.create(kDefinitions, job_definition());
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(HousekeepingTest, ANameThatIsTakenIsAcceptedWhenItIsFree) {
  Json rival = job_definition();
  rival.as_object()["metadata"].as_object()["name"] = "works.example.test";
  rival.as_object()["spec"].as_object()["names"].as_object()["plural"] = "works";
  const Answer second = server.create(kDefinitions, rival);
  EXPECT_EQ(second.status, 201) << second.text;
  EXPECT_THAT(second.text, HasSubstr("is already in use"));
  EXPECT_EQ(server.get("/apis/example.test/v1/namespaces/default/works").status, 404);
  server.remove(kDefinitions + "/jobs.example.test");
  server.settle();
  EXPECT_EQ(server.get("/apis/example.test/v1/namespaces/default/works").status, 200);
}

TEST_F(HousekeepingTest, EventsPass) {
  const auto event = [](const std::string& name) {
    return JsonObject{{"metadata", JsonObject{{"name", name}, {"namespace", "default"}}},
                      {"involvedObject", JsonObject{{"name", "a"}, {"namespace", "default"}}},
                      {"reason", "R"}};
  };
  const std::string events = "/api/v1/namespaces/default/events";
  server.server.start();
  server.create(events, event("old"));
  server.runner.run_for(std::chrono::hours(23));
  server.create(events, event("new"));
  EXPECT_THAT(names(events), ElementsAre("new", "old"));
  server.runner.run_for(std::chrono::hours(2));
  EXPECT_THAT(names(events), ElementsAre("new"));
}

}  // namespace
}  // namespace meridian::kubeserver
