// SPDX-License-Identifier: Apache-2.0
#include "operators/hosting_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/conditions.h"
#include "operators/definition_controller.h"
#include "operators/hosting_children.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::HasSubstr;
using testing::SizeIs;

Json parse(std::string_view text) { return base::parse_json(text).value(); }

class HostingControllerTest : public testing::Test, public TestBed {
 protected:
  HostingControllerTest() {
    steps.add("hostingdeployments", [this](const control::Key& key) { return hosting.step(key); });
    steps.add("models", [this](const control::Key& key) { return models_controller.step(key); });
    steps.add("endpointconfigs",
              [this](const control::Key& key) { return configs_controller.step(key); });
  }

  void apply(std::string_view image = "host") {
    Json object =
        parse(R"({"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "HostingDeployment",
      "metadata": {"name": "d", "namespace": "default"},
      "spec": {"region": "us-west-2",
        "productionVariants": [{"variantName": "v", "modelName": "m", "initialInstanceCount": 1,
                                "instanceType": "ml.m5.large", "initialVariantWeight": 0.5}],
        "models": [{"name": "m", "executionRoleArn": "r", "containers": [{"image": "host"}]}]}})");
    object.as_object()["spec"]
        .as_object()["models"]
        .as_array()[0]
        .as_object()["containers"]
        .as_array()[0] = JsonObject{{"image", image}};
    if (auto present = api.find(deployment.resource(), {"default", "d"})) {
      present->as_object()["spec"] = object.as_object()["spec"];
      api.update(deployment.resource(), *present);
    } else {
      api.create(deployment.resource(), object);
    }
  }
  Json settle(int rounds = 8) {
    TestBed::settle({&model, &config, &deployment}, rounds);
    const auto object = api.find(deployment.resource(), {"default", "d"});
    return object ? *object : Json();
  }
  JsonObject& endpoint() { return remotes.endpoints.begin()->second; }
  void in_service(bool take_update = true) {
    clock.advance(base::Duration(1'000));
    endpoint()["EndpointStatus"] = "InService";
    if (take_update && endpoint().contains("NextConfig"))
      endpoint()["EndpointConfigName"] = endpoint()["NextConfig"];
    endpoint()["LastModifiedTime"] = clock.now().seconds();
  }

  const Kind& deployment = get_kind("HostingDeployment");
  const Kind& model = get_kind("Model");
  const Kind& config = get_kind("EndpointConfig");
  Resources& models = resources(model);
  Resources& configs = resources(config);
  DefinitionController models_controller{model, models, parts, {.installation = "home"}};
  DefinitionController configs_controller{config, configs, parts, {.installation = "home"}};
  HostingController hosting{
      resources(deployment), models, configs, parts, {.installation = "home"}};
};

TEST_F(HostingControllerTest, ADeploymentStandsOnItsModelsAndItsConfiguration) {
  apply();
  Json object = settle();
  ASSERT_THAT(remotes.endpoints, SizeIs(1));
  EXPECT_THAT(remotes.models, SizeIs(1));
  const std::string name = base::string_or(endpoint(), "EndpointConfigName");
  EXPECT_EQ(base::string_or(remotes.configs[name]["ProductionVariants"].as_array()[0], "ModelName"),
            remotes.models.begin()->first);
  EXPECT_EQ(base::string_or(*base::find(object, "status"), "endpointStatus"), "Creating");
  in_service();
  object = settle();
  EXPECT_EQ(condition_status(object, "Ready"), "True");
  EXPECT_EQ(condition_status(object, "Reconciling"), "");
  EXPECT_THAT(base::string_or(*base::find(object, "status"), "endpointUrl"),
              HasSubstr("/invocations"));
}

TEST_F(HostingControllerTest, AnEditRollsTheEndpointAndTheOldGoesAfterwards) {
  apply();
  settle();
  in_service();
  settle();
  const std::string first = base::string_or(endpoint(), "EndpointConfigName");
  apply("better");
  settle();
  EXPECT_EQ(base::string_or(endpoint(), "EndpointStatus"), "Updating");
  EXPECT_THAT(remotes.models, SizeIs(2)) << "the old one still serves";
  in_service();
  settle(12);
  EXPECT_NE(base::string_or(endpoint(), "EndpointConfigName"), first);
  EXPECT_THAT(remotes.models, SizeIs(1));
  EXPECT_THAT(remotes.configs, SizeIs(1));
  EXPECT_EQ(remotes.calls["UpdateEndpoint"], 1);
}

TEST_F(HostingControllerTest, AnUpdateThatTheRegionTookBackIsSentOnce) {
  apply();
  settle();
  in_service();
  settle();
  apply("worse");
  settle();
  endpoint()["FailureReason"] = "the container did not answer pings";
  in_service(false);
  const Json object = settle(20);
  EXPECT_EQ(remotes.calls["UpdateEndpoint"], 1);
  EXPECT_EQ(condition_status(object, "Stalled"), "True");
  EXPECT_EQ(base::string_or(*base::find(object, "status"), "endpointStatus"), "InService");
  EXPECT_THAT(base::string_or(*base::find(object, "status"), "additional"), HasSubstr("pings"));
}

TEST_F(HostingControllerTest, AModelThatIsRefusedStallsTheDeploymentAndSaysWhich) {
  remotes.fail_next_create = aws::ApiError("ValidationException", "no such image", 400);
  apply();
  const Json object = settle();
  EXPECT_EQ(condition_status(object, "Stalled"), "True");
  EXPECT_THAT(base::string_or(*base::find(object, "status"), "additional"),
              HasSubstr("no such image"));
  EXPECT_TRUE(remotes.endpoints.empty());
}

TEST_F(HostingControllerTest, ADeletionLeavesNothing) {
  apply();
  settle();
  in_service();
  settle();
  api.remove(deployment.resource(), {"default", "d"});
  settle(12);
  EXPECT_TRUE(remotes.endpoints.empty());
  EXPECT_TRUE(remotes.configs.empty());
  EXPECT_TRUE(remotes.models.empty());
  EXPECT_TRUE(api.list(model.resource(), "").items.empty());
}

TEST_F(HostingControllerTest, WhereTheRegionHasNoEndpointsItFailsAtOnceAndCanBeDeleted) {
  remotes.lacks_endpoints = true;
  apply();
  const Json object = settle();
  EXPECT_EQ(base::string_or(*base::find(object, "status"), "reason"), "UnknownOperationException");
  EXPECT_EQ(condition_status(object, "Stalled"), "True");
  api.remove(deployment.resource(), {"default", "d"});
  EXPECT_TRUE(settle().is_null());
  EXPECT_TRUE(remotes.models.empty());
}

TEST_F(HostingControllerTest, AQuietDeploymentCostsNoDescriptions) {
  apply();
  settle();
  in_service();
  settle();
  const int before = remotes.calls["DescribeEndpoint"];
  settle(50);
  EXPECT_EQ(remotes.calls["DescribeEndpoint"], before);
}

TEST(HostingChildren, TakingAnEditBackFindsTheFirstOnes) {
  const Json one = parse(
      R"({"metadata": {"name": "d", "namespace": "n", "uid": "u"}, "kind": "HostingDeployment",
    "spec": {"region": "r", "models": [{"name": "M 1", "containers": [{"image": "a"}]}]}})");
  Json two = one;
  two.as_object()["spec"]
      .as_object()["models"]
      .as_array()[0]
      .as_object()["containers"]
      .as_array()[0]
      .as_object()["image"] = "b";
  EXPECT_NE(kube::name_of(model_resources(one)[0]), kube::name_of(model_resources(two)[0]));
  EXPECT_EQ(kube::name_of(model_resources(one)[0]), kube::name_of(model_resources(Json(one))[0]));
  EXPECT_THAT(kube::name_of(model_resources(one)[0]), testing::StartsWith("d-m-1-"));
}

}  // namespace
}  // namespace meridian::operators
