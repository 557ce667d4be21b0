// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

std::string text(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  if (found == nullptr) return "";
  return found->is_string() ? std::string(base::view(found->get_string())) : base::to_text(*found);
}

class ServerTest : public testing::Test {
 protected:
  void with_jobs() { ASSERT_EQ(server.create(kDefinitions, job_definition()).status, 201); }
  std::string version_of(const std::string& path) {
    return text(server.get(path).body, "metadata.resourceVersion");
  }

  TestServer server;
};

TEST_F(ServerTest, ADefinitionIsServedOnceItIsAnswered) {
  const Answer made = server.create(kDefinitions, job_definition());
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_THAT(base::to_text(made.body.at("status").at("conditions")), HasSubstr("Established"));
  EXPECT_EQ(text(made.body, "spec.names.singular"), "job");
  EXPECT_EQ(text(made.body, "spec.names.listKind"), "JobList");
  const Answer list = server.get(kJobs);
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(text(list.body, "kind"), "JobList");
  EXPECT_TRUE(list.body.at("items").as_array().empty());
}

TEST_F(ServerTest, AnObjectIsCreatedReadListedAndRemoved) {
  with_jobs();
  const Answer made = server.create(kJobs, job("a", 2));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(text(made.body, "metadata.namespace"), "default");
  EXPECT_EQ(text(made.body, "metadata.generation"), "1");
  EXPECT_EQ(text(made.body, "metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
  EXPECT_EQ(text(made.body, "spec.note"), "none") << "the schema's default";
  EXPECT_EQ(text(made.body, "metadata.uid").size(), 36u);
  const Answer again = server.create(kJobs, job("a"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(text(again.body, "message"), "jobs.example.test \"a\" already exists");
  EXPECT_EQ(server.get(kJobs + "/a").body, made.body);
  EXPECT_EQ(server.get(kJobs).body.at("items").as_array().size(), 1u);
  EXPECT_EQ(server.get("/apis/example.test/v1/jobs").body.at("items").as_array().size(), 1u);
  const Answer gone = server.remove(kJobs + "/a");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(text(gone.body, "status"), "Success");
  EXPECT_EQ(text(gone.body, "details.uid"), text(made.body, "metadata.uid"));
  const Answer missing = server.get(kJobs + "/a");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(text(missing.body, "message"), "jobs.example.test \"a\" not found");
  EXPECT_EQ(text(missing.body, "reason"), "NotFound");
}

TEST_F(ServerTest, AListIsATableForThoseWhoWantOne) {
  with_jobs();
  server.create(kJobs, job("a"));
  server.clock.advance(std::chrono::minutes(5));
  const Answer table = server.get(kJobs, {{"Accept", kTable}});
  ASSERT_EQ(table.status, 200) << table.text;
  EXPECT_EQ(text(table.body, "kind"), "Table");
  const Json& row = table.body.at("rows").as_array()[0];
  EXPECT_EQ(row.at("cells").as_array()[0], Json("a"));
  EXPECT_EQ(row.at("cells").as_array()[2], Json("5m"));
  EXPECT_EQ(text(row, "object.kind"), "PartialObjectMetadata");
  EXPECT_NE(text(table.body, "metadata.resourceVersion"), "");
  const Answer one = server.get(kJobs + "/a", {{"Accept", kTable}});
  EXPECT_EQ(one.body.at("rows").as_array().size(), 1u);
}

TEST_F(ServerTest, WhatIsWrongIsToldAtOnceWithItsFields) {
  with_jobs();
  Json bad = job("a", 0);
  bad.as_object()["spec"].as_object()["list"] = JsonArray{1};
  const Answer refused = server.create(kJobs, bad);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(text(refused.body, "reason"), "Invalid");
  EXPECT_EQ(refused.body.at("details").at("causes").as_array().size(), 2u) << refused.text;
  Json nameless = job("");
  EXPECT_THAT(server.create(kJobs, nameless).text, HasSubstr("name or generateName is required"));
  EXPECT_THAT(server.create(kJobs, job("Bad_Name")).text, HasSubstr("RFC 1123"));
}

TEST_F(ServerTest, UnknownFieldsAreRefusedWarnedOfOrDropped) {
  with_jobs();
  Json object = job("a");
  object.as_object()["spec"].as_object()["sizes"] = 1;
  const Answer strict =
      server.call("POST", kJobs + "?fieldValidation=Strict", base::to_text(object));
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(text(strict.body, "message"), HasSubstr("unknown field \"spec.sizes\""));
  const Answer warned = server.create(kJobs, object);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.headers.get("warning"), "299 - \"unknown field \\\"spec.sizes\\\"\"");
  EXPECT_EQ(text(warned.body, "spec.sizes"), "");
  object.as_object()["metadata"].as_object()["name"] = "b";
  const Answer ignored =
      server.call("POST", kJobs + "?fieldValidation=Ignore", base::to_text(object));
  EXPECT_EQ(ignored.status, 201);
  EXPECT_FALSE(ignored.headers.find("warning"));
}

TEST_F(ServerTest, OurOwnGroupsRefuseUnknownFieldsUnlessTold) {
  Json definition = job_definition();
  definition.as_object()["metadata"].as_object()["name"] = "jobs.meridian.dev";
  definition.as_object()["spec"].as_object()["group"] = "meridian.dev";
  ASSERT_EQ(server.create(kDefinitions, definition).status, 201);
  Json object = job("a");
  object.as_object()["apiVersion"] = "meridian.dev/v1";
  object.as_object()["spec"].as_object()["sizes"] = 1;
  const std::string jobs = "/apis/meridian.dev/v1/namespaces/default/jobs";
  EXPECT_EQ(server.create(jobs, object).status, 400);
  EXPECT_EQ(server.call("POST", jobs + "?fieldValidation=Warn", base::to_text(object)).status, 201);
}

TEST_F(ServerTest, AnUpdateNeedsTheVersionItReplaces) {
  with_jobs();
  Json object = server.create(kJobs, job("a")).body;
  object.as_object()["spec"].as_object()["size"] = 5;
  const Answer updated = server.put(kJobs + "/a", object);
  EXPECT_EQ(updated.status, 200) << updated.text;
  EXPECT_EQ(text(updated.body, "metadata.generation"), "2");
  const Answer stale = server.put(kJobs + "/a", object);
  EXPECT_EQ(stale.status, 409);
  EXPECT_THAT(text(stale.body, "message"), HasSubstr("the object has been modified"));
  object.as_object()["metadata"].as_object().erase("resourceVersion");
  const Answer blind = server.put(kJobs + "/a", object);
  EXPECT_EQ(blind.status, 422);
  EXPECT_THAT(blind.text, HasSubstr("must be specified for an update"));
}

TEST_F(ServerTest, GenerationCountsWhatIsWantedOnly) {
  with_jobs();
  server.create(kJobs, job("a"));
  const std::string merge = "application/merge-patch+json";
  const auto generation = [&](const Json& patch, const std::string& part) {
    const Answer answer = server.patch(kJobs + "/a" + part, merge, patch);
    EXPECT_EQ(answer.status, 200) << answer.text;
    return text(answer.body, "metadata.generation");
  };
  EXPECT_EQ(generation({{"metadata", {{"labels", {{"a", "b"}}}}}}, ""), "1");
  EXPECT_EQ(generation({{"status", {{"state", "Running"}}}}, "/status"), "1");
  EXPECT_EQ(text(server.get(kJobs + "/a").body, "status.state"), "Running");
  EXPECT_EQ(generation({{"status", {{"state", "Done"}}}}, ""), "1");
  EXPECT_EQ(text(server.get(kJobs + "/a").body, "status.state"), "Running") << "only by /status";
  EXPECT_EQ(generation({{"spec", {{"size", 7}}}}, "/status"), "1");
  EXPECT_EQ(text(server.get(kJobs + "/a").body, "spec.size"), "1");
  EXPECT_EQ(generation({{"spec", {{"size", 7}}}}, ""), "2");
}

TEST_F(ServerTest, AWriteThatChangesNothingMakesNoVersion) {
  with_jobs();
  server.create(kJobs, job("a"));
  const std::string before = version_of(kJobs + "/a");
  const Answer same =
      server.patch(kJobs + "/a", "application/merge-patch+json", {{"spec", {{"size", 1}}}});
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(text(same.body, "metadata.resourceVersion"), before);
  EXPECT_EQ(version_of(kJobs + "/a"), before);
}

TEST_F(ServerTest, PatchesComeInTheirTypes) {
  with_jobs();
  server.create(kJobs, job("a"));
  const Answer json =
      server.patch(kJobs + "/a", "application/json-patch+json",
                   JsonArray{JsonObject{{"op", "replace"}, {"path", "/spec/size"}, {"value", 3}}});
  EXPECT_EQ(text(json.body, "spec.size"), "3") << json.text;
  const Answer strategic = server.patch(kJobs + "/a", "application/strategic-merge-patch+json",
                                        {{"spec", {{"size", 4}}}});
  EXPECT_EQ(strategic.status, 415);
  EXPECT_EQ(text(strategic.body, "message"),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
  const Answer renamed =
      server.patch(kJobs + "/a", "application/merge-patch+json", {{"metadata", {{"name", "b"}}}});
  EXPECT_EQ(renamed.status, 400);
  const Answer stale = server.patch(kJobs + "/a", "application/merge-patch+json",
                                    {{"metadata", {{"resourceVersion", "1"}}}});
  EXPECT_EQ(stale.status, 409);
}

TEST_F(ServerTest, AppliedFieldsHaveOwners) {
  with_jobs();
  const auto apply = [&](const std::string& manager, int size, const std::string& more = "") {
    return server.call("PATCH", kJobs + "/a?fieldManager=" + manager + more,
                       "apiVersion: example.test/v1\nkind: Job\nmetadata: {name: a}\n"
                       "spec: {size: " +
                           std::to_string(size) + "}\n",
                       {{"Content-Type", "application/apply-patch+yaml"}});
  };
  EXPECT_EQ(apply("one", 1).status, 201);
  const std::string first = version_of(kJobs + "/a");
  server.clock.advance(std::chrono::hours(1));
  EXPECT_EQ(apply("one", 1).status, 200);
  EXPECT_EQ(version_of(kJobs + "/a"), first) << "applying again changes nothing";
  const Answer conflict = apply("two", 2);
  EXPECT_EQ(conflict.status, 409);
  EXPECT_THAT(conflict.text, HasSubstr(".spec.size"));
  EXPECT_EQ(apply("two", 2, "&force=true").status, 200);
  EXPECT_EQ(text(server.get(kJobs + "/a").body, "spec.size"), "2");
  EXPECT_EQ(
      server.call("PATCH", kJobs + "/a", "{}", {{"Content-Type", "application/apply-patch+yaml"}})
          .status,
      422)
      << "without a manager";
}

TEST_F(ServerTest, DryRunsChangeNothing) {
  with_jobs();
  EXPECT_EQ(server.create(kJobs + "?dryRun=All", job("a")).status, 201);
  EXPECT_EQ(server.get(kJobs + "/a").status, 404);
  server.create(kJobs, job("a"));
  const std::string before = version_of(kJobs + "/a");
  const Answer patched = server.patch(kJobs + "/a?dryRun=All", "application/merge-patch+json",
                                      {{"spec", {{"size", 9}}}});
  EXPECT_EQ(text(patched.body, "spec.size"), "9");
  EXPECT_EQ(server.call("DELETE", kJobs + "/a?dryRun=All").status, 200);
  EXPECT_EQ(version_of(kJobs + "/a"), before);
  EXPECT_EQ(server.create(kJobs + "?dryRun=Some", job("b")).status, 422);
}

TEST_F(ServerTest, GeneratedNamesKeepTheirPrefix) {
  with_jobs();
  Json object = job("");
  object.as_object()["metadata"] = JsonObject{{"generateName", "train-"}};
  const Answer a = server.create(kJobs, object), b = server.create(kJobs, object);
  EXPECT_THAT(text(a.body, "metadata.name"), testing::MatchesRegex("train-[a-z0-9]{5}"));
  EXPECT_NE(text(a.body, "metadata.name"), text(b.body, "metadata.name"));
}

TEST_F(ServerTest, FinalizersHoldAnObject) {
  with_jobs();
  Json object = job("a");
  object.as_object()["metadata"].as_object()["finalizers"] = JsonArray{"example.test/hold"};
  server.create(kJobs, object);
  const Answer held = server.remove(kJobs + "/a");
  EXPECT_EQ(held.status, 200);
  EXPECT_NE(text(held.body, "metadata.deletionTimestamp"), "");
  EXPECT_EQ(text(held.body, "metadata.generation"), "2");
  const Answer more = server.patch(
      kJobs + "/a", "application/merge-patch+json",
      {{"metadata", {{"finalizers", JsonArray{"example.test/hold", "example.test/other"}}}}});
  EXPECT_EQ(more.status, 422);
  const Answer last = server.patch(kJobs + "/a", "application/merge-patch+json",
                                   {{"metadata", {{"finalizers", nullptr}}}});
  EXPECT_EQ(last.status, 200) << last.text;
  EXPECT_EQ(server.get(kJobs + "/a").status, 404);
}

TEST_F(ServerTest, PreconditionsOfARemovalHold) {
  with_jobs();
  server.create(kJobs, job("a"));
  EXPECT_EQ(server.remove(kJobs + "/a", {{"preconditions", {{"uid", "other"}}}}).status, 409);
  EXPECT_EQ(server.remove(kJobs + "/a", {{"preconditions", {{"resourceVersion", "1"}}}}).status,
            409);
  EXPECT_EQ(server.get(kJobs + "/a").status, 200);
}

TEST_F(ServerTest, PagesShowOneInstant) {
  with_jobs();
  for (int i = 0; i < 5; ++i) server.create(kJobs, job("j" + std::to_string(i)));
  const Answer first = server.get(kJobs + "?limit=2");
  const std::string token = text(first.body, "metadata.continue");
  ASSERT_NE(token, "");
  server.remove(kJobs + "/j3");
  server.create(kJobs, job("j22"));
  const Answer second = server.get(kJobs + "?limit=10&continue=" + token);
  std::vector<std::string> names;
  for (const Json& item : second.body.at("items").as_array()) {
    names.push_back(text(item, "metadata.name"));
  }
  EXPECT_THAT(names, testing::ElementsAre("j2", "j3", "j4"));
  EXPECT_EQ(text(second.body, "metadata.resourceVersion"),
            text(first.body, "metadata.resourceVersion"));
  EXPECT_EQ(text(second.body, "metadata.continue"), "");
  EXPECT_EQ(server.get(kJobs + "?continue=nonsense").status, 400);
}

TEST_F(ServerTest, SelectorsChoose) {
  with_jobs();
  for (const char* name : {"a", "b"}) {
    Json object = job(name);
    object.as_object()["metadata"].as_object()["labels"] = JsonObject{{"name", name}};
    server.create(kJobs, object);
  }
  const auto count = [&](const std::string& query) {
    const Answer answer = server.get(kJobs + query);
    return answer.status == 200 ? static_cast<int>(answer.body.at("items").as_array().size())
                                : -answer.status;
  };
  EXPECT_EQ(count("?labelSelector=name%3Da"), 1);
  EXPECT_EQ(count("?labelSelector=name+in+(a,b)"), 2);
  EXPECT_EQ(count("?fieldSelector=metadata.name%3Db"), 1);
  EXPECT_EQ(count("?fieldSelector=metadata.name%3Dc"), 0);
  EXPECT_EQ(count("?fieldSelector=metadata.name!%3Db"), 1);
  EXPECT_EQ(count("?fieldSelector=spec.size%3D1"), -400);
  EXPECT_EQ(count("?labelSelector=a+in"), -400);
  EXPECT_EQ(count("?labelSelector=name%3Da&limit=1"), 1);
}

TEST_F(ServerTest, AnUnknownNamespaceIsNotFound) {
  with_jobs();
  const Answer refused = server.create("/apis/example.test/v1/namespaces/nope/jobs", job("a"));
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(text(refused.body, "message"), "namespaces \"nope\" not found");
}

TEST_F(ServerTest, TheBodyMustMatchTheAddress) {
  with_jobs();
  Json elsewhere = job("a");
  elsewhere.as_object()["metadata"].as_object()["namespace"] = "other";
  EXPECT_EQ(server.create(kJobs, elsewhere).status, 400);
  Json other = job("a");
  other.as_object()["kind"] = "Task";
  EXPECT_EQ(server.create(kJobs, other).status, 400);
  EXPECT_EQ(server.call("POST", kJobs, "{").status, 400);
  EXPECT_EQ(server.call("POST", kJobs, "x", {{"Content-Type", "text/csv"}}).status, 415);
  EXPECT_EQ(server.call("POST", kJobs, std::string(4u << 20, ' ')).status, 413);
  EXPECT_EQ(server.call("POST", kJobs + "/a", "{}").status, 405);
  EXPECT_EQ(server.get("/apis/example.test/v1/namespaces/default/nothing").status, 404);
  EXPECT_EQ(server.get(kJobs, {{"Accept", "application/vnd.kubernetes.protobuf"}}).status, 406);
}

}  // namespace
}  // namespace meridian::kubeserver
