// Answers that were compared with a kube-apiserver's, word by word.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.h"
#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kSecrets = "/api/v1/namespaces/default/secrets";

class KubernetesWordsTest : public testing::Test {
 protected:
  void SetUp() override {
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", job_definition());
  }

  Answer secret(const std::string& name, const std::string& type, JsonObject data) {
    return server.create(kSecrets, JsonObject{{"apiVersion", "v1"},
                                              {"kind", "Secret"},
                                              {"metadata", {{"name", name}}},
                                              {"type", type},
                                              {"data", std::move(data)}});
  }

  TestServer server;
};

TEST_F(KubernetesWordsTest, AFailedJsonPatchSaysWhichOperation) {
  server.create(kJobs, job("a"));
  const Answer failed =
      server.patch(kJobs + "/a", "application/json-patch+json",
                   JsonArray{JsonObject{{"op", "test"}, {"path", "/spec/size"}, {"value", 9}}});
  EXPECT_EQ(failed.status, 422);
  EXPECT_THAT(base::string_or(failed.body, "message"), HasSubstr("operation 0: test failed"));
  const Json& cause = failed.body.at("details").at("causes").at(0);
  EXPECT_EQ(base::string_or(cause, "field"), "patch") << "kubectl shows 'field: message'";
  EXPECT_EQ(cause.at("message"), failed.body.at("message"));
}

TEST_F(KubernetesWordsTest, AnObjectThatWasReadElsewhereIsNotCreatedWithItsVersion) {
  Json object = job("a");
  kube::metadata_of(object)["resourceVersion"] = "17";
  const Answer refused = server.create(kJobs, object);
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(base::string_or(refused.body, "message"),
            "resourceVersion should not be set on objects to be created");
  kube::metadata_of(object)["resourceVersion"] = "0";
  EXPECT_EQ(server.create(kJobs, object).status, 201);
}

TEST_F(KubernetesWordsTest, ANegativeLimitIsNone) {
  server.create(kJobs, job("a"));
  const Answer list = server.get(kJobs + "?limit=-1");
  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.body.at("items").as_array().size(), 1u);
}

TEST_F(KubernetesWordsTest, OptionsOfAListThatDoNotGoTogetherAreInvalid) {
  for (const char* query :
       {"?resourceVersionMatch=Exact", "?resourceVersionMatch=Exact&resourceVersion=0",
        "?resourceVersionMatch=Near&resourceVersion=1"}) {
    const Answer refused = server.get(kJobs + query);
    EXPECT_EQ(refused.status, 422) << query;
    EXPECT_THAT(refused.text, HasSubstr("ListOptions")) << query;
  }
}

TEST_F(KubernetesWordsTest, ASecretHasTheKeysOfItsType) {
  const Answer empty = secret("a", "kubernetes.io/tls", {});
  EXPECT_EQ(empty.status, 422);
  EXPECT_THAT(empty.text, HasSubstr("data[tls.crt]: Required value"));
  EXPECT_THAT(empty.text, HasSubstr("data[tls.key]: Required value"));
  EXPECT_EQ(secret("b", "kubernetes.io/tls", {{"tls.crt", "YQ=="}, {"tls.key", "YQ=="}}).status,
            201);
  EXPECT_EQ(secret("c", "kubernetes.io/basic-auth", {}).status, 422);
  EXPECT_EQ(secret("d", "kubernetes.io/basic-auth", {{"password", "YQ=="}}).status, 201);
  EXPECT_EQ(secret("e", "mine", {}).status, 201);
}

TEST_F(KubernetesWordsTest, AConfigMapsKeysAreCountedInANumber) {
  server.create(kConfigMaps, JsonObject{{"apiVersion", "v1"},
                                        {"kind", "ConfigMap"},
                                        {"metadata", {{"name", "c"}}},
                                        {"data", {{"a", "1"}, {"b", "2"}}}});
  const Answer table =
      server.get(kConfigMaps + "/c", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  EXPECT_EQ(table.body.at("rows").at(0).at("cells").at(1), Json(2)) << table.text;
}

TEST_F(KubernetesWordsTest, VerbsOfCustomResourcesComeInTheOrderOfKubernetes) {
  const Answer resources = server.get("/apis/example.test/v1");
  EXPECT_EQ(base::to_text(resources.body.at("resources").at(0).at("verbs")),
            R"(["delete","deletecollection","get","list","patch","create","update","watch"])");
}

TEST_F(KubernetesWordsTest, ServerSideApplyByKubectlKeepsItsRecordOfWhatWasAppliedTrue) {
  constexpr const char* kRecord = "kubectl.kubernetes.io/last-applied-configuration";
  Json object = job("a", 1);
  kube::set_annotation(object, kRecord, "{}");
  server.create(kJobs, object);
  const auto apply = [&](const std::string& manager, const std::string& note) {
    const Answer applied =
        server.call("PATCH", kJobs + "/a?force=true&fieldManager=" + manager,
                    "apiVersion: example.test/v1\nkind: Job\nmetadata: {name: a}\n"
                    "spec: {size: 1, note: " +
                        note + "}\n",
                    {{"Content-Type", "application/apply-patch+yaml"}});
    return kube::find_annotation(applied.body, kRecord).value_or(applied.text);
  };
  EXPECT_EQ(apply("another", "x"), "{}");
  EXPECT_EQ(apply("kubectl", "y"),
            R"({"apiVersion":"example.test/v1","kind":"Job","metadata":{"name":"a",)"
            R"("namespace":"default"},"spec":{"size":1,"note":"y"}})"
            "\n");
}

TEST_F(KubernetesWordsTest, ARefusedNameComesWithExamplesAndTheExpression) {
  const Answer refused = server.create(kJobs, job("Bad_Name"));
  EXPECT_THAT(
      base::string_or(refused.body, "message"),
      HasSubstr(
          R"((e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?)"
          R"((\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))"));
}

}  // namespace
}  // namespace meridian::kubeserver
