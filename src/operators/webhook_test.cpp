// SPDX-License-Identifier: Apache-2.0
#include "operators/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "operators/kinds.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;
using testing::HasSubstr;

Json asked(const char* object, JsonObject more = {}) {
  JsonObject request{
      {"uid", "u-1"},
      {"operation", "CREATE"},
      {"resource", {{"group", kGroup}, {"version", "v1"}, {"resource", "trainingjobs"}}},
      {"object", base::parse_json(object).value()}};
  for (auto& [key, value] : more) request[key] = value;
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request", std::move(request)}};
}

constexpr const char* kHalves = R"({"spec": {"algorithmSpecification": {"metricDefinitions":
    [{"name": "a"}, {"regex": "b"}]}, "resourceConfig": {"instanceType": "ml.m5.larg"}}})";

TEST(Webhook, WhatTheRulesRefuseIsRefusedWithFieldAndHint) {
  const Json answer = answer_review(asked(kHalves));
  EXPECT_EQ(*base::find_path(answer, "response.uid"), "u-1");
  EXPECT_EQ(*base::find_path(answer, "response.allowed"), Json(false));
  const std::string message(
      base::view(base::find_path(answer, "response.status.message")->as_string()));
  EXPECT_THAT(message, HasSubstr("spec.algorithmSpecification.metricDefinitions: "));
  EXPECT_THAT(message, HasSubstr("one item needs both name and regex"));
  EXPECT_THAT(base::to_text(answer), HasSubstr("did you mean ml.m5.large"));
}

TEST(Webhook, ASpecThatARegionHasMayNotChange) {
  const char* old = R"({"spec": {"region": "a"}, "status": {"sageMakerTrainingJobName": "n"}})";
  const Json answer =
      answer_review(asked(R"({"spec": {"region": "b"}})",
                          {{"operation", "UPDATE"}, {"oldObject", base::parse_json(old).value()}}));
  EXPECT_EQ(*base::find_path(answer, "response.allowed"), Json(false));
}

TEST(Webhook, WhatIsNotOursOrIsGoingPasses) {
  const JsonObject passing[] = {{{"operation", "DELETE"}},
                                {{"subResource", "status"}},
                                {{"object", nullptr}},
                                {{"resource", {{"group", "apps"}, {"resource", "trainingjobs"}}}},
                                {{"resource", {{"group", kGroup}, {"resource", "others"}}}}};
  for (const JsonObject& more : passing) {
    const Json answer = answer_review(asked(kHalves, more));
    EXPECT_EQ(*base::find_path(answer, "response.allowed"), Json(true)) << base::to_text(more);
  }
}

TEST(Webhook, WhatIsNoReviewIsAnError) {
  for (const char* text : {"{}", "[]", "3", R"({"kind": "AdmissionReview"})",
                           R"({"kind": "AdmissionReview", "request": {}})"}) {
    EXPECT_THROW(answer_review(base::parse_json(text).value()), base::Error) << text;
  }
}

}  // namespace
}  // namespace meridian::operators
