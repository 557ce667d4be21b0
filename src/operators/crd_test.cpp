// SPDX-License-Identifier: Apache-2.0
#include "operators/crd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/resource.h"
#include "kube/schema.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonObject;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Json parse(std::string_view text) { return base::parse_json(text).value(); }

kube::Resource resource(std::string_view kind) {
  return kube::resources_of_crd(crd_of(get_kind(kind))).front();
}

Json training_job(std::string_view change = "{}") {
  Json object = parse(R"({"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "TrainingJob",
    "metadata": {"name": "a"},
    "spec": {"region": "us-west-2", "roleArn": "arn:aws:iam::123456789012:role/service-role/x",
      "algorithmSpecification": {"trainingImage": "host", "trainingInputMode": "File"},
      "outputDataConfig": {"s3OutputPath": "s3://b/out"},
      "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 5},
      "stoppingCondition": {"maxRuntimeInSeconds": 3600}}})");
  const Json changes = parse(change);
  for (const auto& [key, value] : changes.as_object()) {
    object.as_object()["spec"].as_object()[key] = value;
  }
  return object;
}

TEST(Crds, EveryKindIsASoundDefinition) {
  for (const Json& crd : all_crds()) {
    const auto resources = kube::resources_of_crd(crd);
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].categories, std::vector<std::string>{"sagemaker"});
    EXPECT_LT(base::to_text(crd).size(), 256u << 10) << "fits an annotation of last-applied";
  }
}

TEST(Crds, ColumnsStartAsTheOriginalsDid) {
  const auto columns = resource("TrainingJob").columns;
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  EXPECT_THAT(names, ElementsAre("Status", "Secondary-Status", "Creation-Time",
                                 "Sagemaker-Job-Name", "Training-Seconds", "Billable-Seconds",
                                 "Cost", "Age", "Reason", "Additional"));
}

TEST(Crds, ATrainingJobOfTheOriginalIsValid) {
  EXPECT_THAT(kube::validate(*resource("TrainingJob").schema, training_job()), IsEmpty());
}

TEST(Crds, WhatTodaysApiAddedIsKnown) {
  const Json job = training_job(R"({"environment": [{"name": "A", "value": "b"}],
    "retryStrategy": {"maximumRetryAttempts": 2}, "ifExists": "adopt"})");
  EXPECT_THAT(kube::validate(*resource("TrainingJob").schema, job), IsEmpty());
  EXPECT_THAT(kube::unknown_fields(*resource("TrainingJob").schema, job), IsEmpty());
}

TEST(Crds, ATypingErrorIsAnUnknownField) {
  EXPECT_THAT(kube::unknown_fields(*resource("TrainingJob").schema,
                                   training_job(R"({"instnaceType": "x"})")),
              ElementsAre("spec.instnaceType"));
}

TEST(Crds, RulesAcrossFieldsAreChecked) {
  const auto schema = resource("TrainingJob").schema;
  EXPECT_THAT(kube::validate(*schema, training_job(R"({"enableManagedSpotTraining": true})")),
              ElementsAre(Field(&kube::Cause::message,
                                HasSubstr("needs stoppingCondition.maxWaitTimeInSeconds"))));
  EXPECT_THAT(kube::validate(
                  *schema, training_job(R"({"algorithmSpecification": {"trainingInputMode": "File",
                 "trainingImage": "host", "algorithmName": "arn:aws:sagemaker:us-west-2:123456789012:algorithm/a"}})")),
              Contains(Field(&kube::Cause::message, HasSubstr("one of them, not both"))));
  EXPECT_THAT(kube::validate(*schema, training_job(R"({"stoppingCondition":
                 {"maxRuntimeInSeconds": 100, "maxWaitTimeInSeconds": 10}})")),
              Contains(Field(&kube::Cause::field, HasSubstr("spec.stoppingCondition"))));
}

TEST(Crds, ADeploymentNeedsItsModelsAndVariants) {
  const auto schema = resource("HostingDeployment").schema;
  const Json object =
      parse(R"({"apiVersion": "sagemaker.aws.amazon.com/v1", "kind": "HostingDeployment",
    "metadata": {"name": "a"}, "spec": {"region": "us-west-2", "productionVariants": [
      {"variantName": "v", "modelName": "m", "initialInstanceCount": 1, "instanceType": "ml.m5.large",
       "initialVariantWeight": 0.5}],
     "models": [{"name": "m", "executionRoleArn": "arn:aws:iam::123456789012:role/x",
       "containers": [{"image": "host", "environment": [{"name": "A", "value": "b"}]}]}]}})");
  EXPECT_THAT(kube::validate(*schema, object), IsEmpty());
  Json without = object;
  without.as_object()["spec"].as_object().erase("models");
  EXPECT_THAT(kube::validate(*schema, without),
              Contains(Field(&kube::Cause::field, "spec.models")));
}

}  // namespace
}  // namespace meridian::operators
