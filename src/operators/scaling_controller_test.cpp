// SPDX-License-Identifier: Apache-2.0
#include "operators/scaling_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/conditions.h"
#include "operators/test_bed.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class ScalingControllerTest : public testing::Test, public TestBed {
 protected:
  ScalingControllerTest() {
    steps.add(kind.plural, [this](const control::Key& key) { return controller.step(key); });
  }
  static JsonArray variants(std::initializer_list<const char*> names) {
    JsonArray list;
    for (const char* name : names) list.push_back({{"endpointName", "e"}, {"variantName", name}});
    return list;
  }
  void apply(JsonArray resources, JsonObject more = {}) {
    JsonObject spec{{"region", "us-west-2"},
                    {"resourceId", std::move(resources)},
                    {"minCapacity", 1},
                    {"maxCapacity", 4},
                    {"suspendedState", {{"dynamicScalingInSuspended", true}}},
                    {"targetTrackingScalingPolicyConfiguration",
                     {{"targetValue", 70.5},
                      {"predefinedMetricSpecification",
                       {{"predefinedMetricType", "SageMakerVariantInvocationsPerInstance"}}}}}};
    for (auto& [key, value] : more) spec[key] = value;
    if (auto present = api.find(kind.resource(), {"default", "p"})) {
      present->as_object()["spec"] = std::move(spec);
      api.update(kind.resource(), *present);
    } else {
      api.create(kind.resource(), {{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                                   {"kind", kind.name},
                                   {"metadata", {{"name", "p"}, {"namespace", "default"}}},
                                   {"spec", std::move(spec)}});
    }
  }
  Json look(int seconds = 2) {
    settle({&kind}, seconds);
    const auto object = api.find(kind.resource(), {"default", "p"});
    return object ? *object : Json();
  }
  std::vector<std::string> targets() {
    std::vector<std::string> names;
    for (const auto& [name, _] : remotes.targets) names.push_back(name);
    return names;
  }

  const Kind& kind = get_kind("HostingAutoscalingPolicy");
  ScalingController controller{resources(kind), parts, {.installation = "home"}};
};

TEST_F(ScalingControllerTest, EachVariantGetsATargetAndAPolicy) {
  apply(variants({"a", "b"}));
  const Json object = look();
  EXPECT_THAT(targets(), ElementsAre("endpoint/e/variant/a", "endpoint/e/variant/b"));
  const JsonObject& target = remotes.targets["endpoint/e/variant/a"];
  EXPECT_EQ(target.at("MinCapacity"), Json(1));
  EXPECT_EQ(target.at("SuspendedState"), Json({{"DynamicScalingInSuspended", true}}));
  EXPECT_EQ(base::string_or(target, "ScalableDimension"), "sagemaker:variant:DesiredInstanceCount");
  const Json policy = remotes.policies["endpoint/e/variant/a"];
  EXPECT_EQ(base::string_or(policy, "PolicyName"), "SageMakerEndpointInvocationScalingPolicy");
  EXPECT_EQ(base::string_or(policy, "PolicyType"), "TargetTrackingScaling");
  EXPECT_EQ(*base::find_path(policy, "TargetTrackingScalingPolicyConfiguration.TargetValue"),
            Json(70.5));
  EXPECT_EQ(condition_status(object, "Ready"), "True");
  EXPECT_EQ(*base::find_path(object, "status.hostingAutoscalingPolicyStatus"), "Created");
  EXPECT_EQ(*base::find_path(object, "status.resourceIDList"),
            Json({"endpoint/e/variant/a", "endpoint/e/variant/b"}));
  EXPECT_THAT(event_reasons(), ElementsAre("Created"));
}

TEST_F(ScalingControllerTest, AnEditReachesEveryVariantAndLeavesNoneBehind) {
  apply(variants({"a", "b"}));
  look();
  apply(variants({"b", "c"}), {{"maxCapacity", 9}});
  look();
  EXPECT_THAT(targets(), ElementsAre("endpoint/e/variant/b", "endpoint/e/variant/c"));
  EXPECT_EQ(remotes.targets["endpoint/e/variant/b"].at("MaxCapacity"), Json(9));
  EXPECT_THAT(remotes.policies, SizeIs(2));
}

TEST_F(ScalingControllerTest, ARenamedPolicyReplacesTheOldOne) {
  apply(variants({"a"}));
  look();
  apply(variants({"a"}), {{"policyName", "mine"}});
  const Json object = look();
  EXPECT_EQ(remotes.calls["DeleteScalingPolicy"], 1);
  EXPECT_EQ(base::string_or(remotes.policies["endpoint/e/variant/a"], "PolicyName"), "mine");
  EXPECT_EQ(*base::find_path(object, "status.policyName"), "mine");
}

TEST_F(ScalingControllerTest, AnEndpointThatIsNotInServiceIsWaitedFor) {
  remotes.endpoint_is_ready = false;
  apply(variants({"a"}));
  Json object = look();
  EXPECT_EQ(*base::find_path(object, "status.hostingAutoscalingPolicyStatus"), "Reconciling");
  EXPECT_THAT(base::string_or(*base::find(object, "status"), "additional"),
              HasSubstr("next attempt at "));
  remotes.endpoint_is_ready = true;
  object = look(10);
  EXPECT_EQ(condition_status(object, "Ready"), "True");
  EXPECT_EQ(condition_status(object, "Reconciling"), "");
}

TEST_F(ScalingControllerTest, DeletingRemovesPolicyAndTargetAndMissingOnesDoNotMatter) {
  apply(variants({"a", "b"}));
  look();
  remotes.targets.erase("endpoint/e/variant/a");
  remotes.policies.erase("endpoint/e/variant/a");
  api.remove(kind.resource(), {"default", "p"});
  EXPECT_TRUE(look().is_null());
  EXPECT_THAT(remotes.targets, IsEmpty());
  EXPECT_THAT(remotes.policies, IsEmpty());
}

TEST_F(ScalingControllerTest, TargetsThatWentWithTheirEndpointAreMadeAgain) {
  apply(variants({"a"}));
  look();
  remotes.targets.clear();
  remotes.policies.clear();
  runner.run_for(ScalingController::kLook + base::Duration(2'000));
  EXPECT_THAT(remotes.policies, ElementsAre(Pair("endpoint/e/variant/a", testing::_)));
}

TEST_F(ScalingControllerTest, ARefusedPolicyIsTerminalUntilItIsMended) {
  remotes.fail_next_create = aws::ApiError("ValidationException", "no such metric", 400);
  apply(variants({"a"}));
  Json object = look();
  EXPECT_EQ(condition_status(object, "Stalled"), "True");
  EXPECT_EQ(*base::find_path(object, "status.hostingAutoscalingPolicyStatus"), "Error");
  EXPECT_EQ(remotes.calls["PutScalingPolicy"], 1);
  apply(variants({"a"}), {{"maxCapacity", 5}});
  object = look();
  EXPECT_EQ(condition_status(object, "Ready"), "True");
  EXPECT_EQ(condition_status(object, "Stalled"), "");
}

}  // namespace
}  // namespace meridian::operators
