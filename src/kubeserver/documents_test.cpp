// Discovery and OpenAPI as clients ask for them.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeserver/openapi/wire.h"
#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;
using testing::Not;

std::string at(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  if (found == nullptr) return "";
  return found->is_string() ? std::string(base::view(found->get_string())) : base::to_text(*found);
}

class DocumentsTest : public testing::Test {
 protected:
  DocumentsTest() {
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", job_definition());
  }
  TestServer server;
};

TEST_F(DocumentsTest, PlainDiscovery) {
  EXPECT_EQ(at(server.get("/api").body, "versions"), "[\"v1\"]");
  EXPECT_THAT(server.get("/apis").text, HasSubstr("\"name\":\"example.test\""));
  EXPECT_EQ(at(server.get("/apis/example.test").body, "preferredVersion.groupVersion"),
            "example.test/v1");
  const Answer list = server.get("/apis/example.test/v1");
  EXPECT_EQ(at(list.body, "kind"), "APIResourceList");
  EXPECT_EQ(at(list.body, "apiVersion"), "v1");
  const Json& first = list.body.at("resources").as_array()[0];
  EXPECT_EQ(at(first, "name"), "jobs");
  EXPECT_EQ(at(first, "shortNames"), "[\"jb\"]");
  EXPECT_EQ(at(list.body.at("resources").as_array()[1], "name"), "jobs/status");
  EXPECT_EQ(server.get("/apis/nothing.test").status, 404);
  EXPECT_EQ(server.get("/api/v2").status, 404);
}

TEST_F(DocumentsTest, AggregatedDiscoveryHasItsOwnMediaType) {
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const Answer groups = server.get("/apis", {{"Accept", accept}});
  EXPECT_EQ(groups.headers.get("content-type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(at(groups.body, "apiVersion"), "apidiscovery.k8s.io/v2");
  EXPECT_THAT(groups.text, HasSubstr("\"resource\":\"jobs\""));
  EXPECT_THAT(groups.text, Not(HasSubstr("\"resource\":\"configmaps\"")));
  EXPECT_THAT(server.get("/api", {{"Accept", accept}}).text,
              HasSubstr("\"resource\":\"configmaps\""));
  const Answer older = server.get(
      "/apis",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"}});
  EXPECT_EQ(at(older.body, "apiVersion"), "apidiscovery.k8s.io/v2beta1");
}

TEST_F(DocumentsTest, Version3HasTheSchemaAndSaysWhoValidates) {
  const Answer index = server.get("/openapi/v3");
  const std::string address =
      at(index.body.at("paths").at("apis/example.test/v1"), "serverRelativeURL");
  ASSERT_THAT(address, testing::StartsWith("/openapi/v3/apis/example.test/v1?hash="));
  const Answer document = server.get(address);
  ASSERT_EQ(document.status, 200);
  const Json& schema = document.body.at("components").at("schemas").at("test.example.v1.Job");
  EXPECT_EQ(at(schema, "properties.spec.properties.size.description"), "How many.");
  EXPECT_THAT(base::to_text(schema), HasSubstr("x-kubernetes-group-version-kind"));
  const Json& path =
      document.body.at("paths").at("/apis/example.test/v1/namespaces/{namespace}/jobs/{name}");
  EXPECT_THAT(base::to_text(path.at("patch")), HasSubstr("fieldValidation"));
  const std::string tag = document.headers.get("etag");
  EXPECT_EQ(server.get(address, {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(server.get("/openapi/v3/apis/nothing.test/v1").status, 404);
}

TEST_F(DocumentsTest, TheHashChangesWithTheDefinition) {
  const auto hash = [&] {
    return at(server.get("/openapi/v3").body.at("paths").at("apis/example.test/v1"),
              "serverRelativeURL");
  };
  const std::string before = hash();
  EXPECT_EQ(hash(), before);
  server.patch(
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobs.example.test",
      "application/json-patch+json",
      JsonArray{JsonObject{
          {"op", "replace"},
          {"path",
           "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/description"},
          {"value", "Other."}}});
  EXPECT_NE(hash(), before);
}

TEST_F(DocumentsTest, Version2IsProtobufForThoseWhoWantIt) {
  const Answer proto = server.get(
      "/openapi/v2", {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}});
  EXPECT_EQ(proto.headers.get("content-type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  std::string_view rest = proto.text;
  const auto swagger = openapi::take_field(rest);
  ASSERT_TRUE(swagger);
  EXPECT_EQ(swagger->number, 1);
  EXPECT_EQ(swagger->bytes, "2.0");
  while (openapi::take_field(rest)) {
  }
  EXPECT_TRUE(rest.empty()) << "well formed to the end";
  EXPECT_THAT(proto.text, HasSubstr("test.example.v1.Job"));
  EXPECT_THAT(proto.text, HasSubstr("dryRun"));
  const Answer json = server.get("/openapi/v2", {{"Accept", "application/json"}});
  EXPECT_EQ(at(json.body, "swagger"), "2.0");
  EXPECT_EQ(server
                .get("/openapi/v2",
                     {{"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"},
                      {"If-None-Match", proto.headers.get("etag")}})
                .status,
            304);
}

TEST_F(DocumentsTest, VersionHealthAndRoot) {
  EXPECT_EQ(at(server.get("/version").body, "major"), "1");
  EXPECT_THAT(at(server.get("/version").body, "gitVersion"), testing::StartsWith("v1."));
  for (const char* path : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(server.get(path).text, "ok");
  EXPECT_THAT(server.get("/").text, HasSubstr("/apis/example.test/v1"));
  EXPECT_EQ(server.get("/nothing").status, 404);
}

}  // namespace
}  // namespace meridian::kubeserver
