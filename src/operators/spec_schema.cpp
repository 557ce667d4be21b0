// Specs of the kinds: the input of their Create operation, less what the controller fills in, plus
// where it goes (region, endpoint) and what to do with a job that is there already.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aws/model.h"
#include "operators/crd.h"
#include "operators/form.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject text(std::string_view description = "") {
  JsonObject schema{{"type", "string"}};
  if (!description.empty()) schema["description"] = description;
  return schema;
}

JsonObject list_of(JsonObject item, std::int64_t least = 0) {
  JsonObject schema{{"type", "array"}, {"items", std::move(item)}};
  if (least > 0) schema["minItems"] = least;
  return schema;
}

const aws::Shape& shape(std::string_view name) {
  return *aws::get_model("sagemaker").find_shape(name);
}

JsonObject member_schema(std::string_view structure, std::string_view member) {
  return schema_of(*shape(structure).find_member(member)->shape);
}

JsonObject& properties(JsonObject& schema) { return schema["properties"].as_object(); }

void rule(JsonObject& schema, std::string_view expression, std::string_view message) {
  if (!schema.contains("x-kubernetes-validations"))
    schema["x-kubernetes-validations"] = JsonArray{};
  schema["x-kubernetes-validations"].as_array().push_back(
      {{"rule", expression}, {"message", message}});
}

// Region and endpoint are on every kind.
void add_place(JsonObject& spec) {
  JsonObject region = text("Where this runs, for example us-west-2.");
  region["minLength"] = 1;
  rule(region, "self == oldSelf", "a resource stays in its region: make a new one");
  properties(spec)["region"] = std::move(region);
  JsonObject endpoint = text("Another SageMaker endpoint than the region's own.");
  endpoint["pattern"] = "^(https|http)://.*$";
  properties(spec)["sageMakerEndpoint"] = std::move(endpoint);
  JsonArray required{"region"};
  if (const Json* before = base::find(spec, "required")) {
    for (const Json& name : before->as_array()) required.push_back(name);
  }
  spec["required"] = std::move(required);
}

void not_required(JsonObject& schema, std::string_view name) {
  if (!schema.contains("required")) return;
  JsonArray kept;
  for (const Json& entry : schema["required"].as_array()) {
    if (base::view(entry.as_string()) != name) kept.push_back(entry);
  }
  if (kept.empty()) {
    schema.erase("required");
  } else {
    schema["required"] = std::move(kept);
  }
}

void add_training_rules(JsonObject& spec) {
  auto& p = properties(spec);
  rule(p["algorithmSpecification"].as_object(),
       "has(self.trainingImage) != has(self.algorithmName)",
       "give trainingImage or algorithmName: one of them, not both");
  if (p.contains("stoppingCondition")) {
    rule(p["stoppingCondition"].as_object(),
         "!has(self.maxWaitTimeInSeconds) || !has(self.maxRuntimeInSeconds) || "
         "self.maxWaitTimeInSeconds >= self.maxRuntimeInSeconds",
         "maxWaitTimeInSeconds covers the run too: it is at least maxRuntimeInSeconds");
  }
  rule(spec,
       "!has(self.enableManagedSpotTraining) || !self.enableManagedSpotTraining || "
       "(has(self.stoppingCondition) && has(self.stoppingCondition.maxWaitTimeInSeconds))",
       "enableManagedSpotTraining needs stoppingCondition.maxWaitTimeInSeconds");
}

JsonObject job_spec(const Kind& kind) {
  const aws::Operation* create = aws::get_model("sagemaker").find_operation(kind.create);
  JsonObject spec = schema_of(*create->input);
  not_required(spec, kind.name_field());
  if (kind.user_name == Kind::UserName::no) properties(spec).erase(kind.name_field());
  add_place(spec);
  JsonObject if_exists =
      text("What to do when the region has a job of this name that we did not make.");
  if_exists["enum"] = {"fail", "adopt"};
  properties(spec)["ifExists"] = std::move(if_exists);
  if (kind.name == "TrainingJob") add_training_rules(spec);
  return spec;
}

JsonObject definition_spec(const Kind& kind) {
  const aws::Operation* create = aws::get_model("sagemaker").find_operation(kind.create);
  JsonObject spec = schema_of(*create->input);
  not_required(spec, kind.name_field());
  properties(spec).erase(kind.name_field());
  add_place(spec);
  return spec;
}

JsonObject hosted_model() {
  JsonObject model{{"type", "object"}, {"required", {"name", "executionRoleArn", "containers"}}};
  JsonObject container = schema_of(shape("ContainerDefinition"));
  JsonObject name = text("What productionVariants[].modelName refers to.");
  name["minLength"] = 1;
  model["properties"] = JsonObject{
      {"name", std::move(name)},
      {"executionRoleArn", member_schema("CreateModelInput", "ExecutionRoleArn")},
      {"containers", list_of(std::move(container), 1)},
      {"primaryContainer", text("Host name of the container that takes the requests.")},
      {"enableNetworkIsolation", {{"type", "boolean"}}},
      {"inferenceExecutionConfig", member_schema("CreateModelInput", "InferenceExecutionConfig")},
      {"vpcConfig", member_schema("CreateModelInput", "VpcConfig")}};
  return model;
}

JsonObject hosting_spec() {
  JsonObject spec{{"type", "object"}, {"required", {"productionVariants", "models"}}};
  JsonObject variants = member_schema("CreateEndpointConfigInput", "ProductionVariants");
  variants["items"].as_object()["required"] = {"variantName", "modelName"};
  JsonObject properties_{
      {"endpointName", member_schema("CreateEndpointInput", "EndpointName")},
      {"tags", member_schema("CreateEndpointInput", "Tags")},
      {"productionVariants", variants},
      {"shadowProductionVariants", variants},
      {"models", list_of(hosted_model(), 1)},
      {"retainAllVariantProperties", {{"type", "boolean"}}},
      {"excludeRetainedVariantProperties",
       member_schema("UpdateEndpointInput", "ExcludeRetainedVariantProperties")},
      {"deploymentConfig", member_schema("CreateEndpointInput", "DeploymentConfig")}};
  for (const char* member :
       {"KmsKeyId", "DataCaptureConfig", "AsyncInferenceConfig", "ExplainerConfig"}) {
    properties_[lower_first(member)] = member_schema("CreateEndpointConfigInput", member);
  }
  spec["properties"] = std::move(properties_);
  add_place(spec);
  return spec;
}

JsonObject scaling_spec() {
  const aws::Model& model = aws::get_model("application-autoscaling");
  const aws::Shape& policy = *model.find_operation("PutScalingPolicy")->input;
  JsonObject resource{{"type", "object"},
                      {"required", {"endpointName", "variantName"}},
                      {"properties", {{"endpointName", text()}, {"variantName", text()}}}};
  JsonObject spec{{"type", "object"}, {"required", {"resourceId", "minCapacity", "maxCapacity"}}};
  JsonObject config =
      schema_of(*policy.find_member("TargetTrackingScalingPolicyConfiguration")->shape);
  auto with_default = [](JsonObject schema, Json value) {
    schema["default"] = std::move(value);
    return schema;
  };
  JsonObject off = with_default({{"type", "boolean"}}, false);
  spec["properties"] = JsonObject{
      {"resourceId", list_of(std::move(resource), 1)},
      {"policyName", with_default(text(), "SageMakerEndpointInvocationScalingPolicy")},
      {"policyType", with_default(text(), "TargetTrackingScaling")},
      {"scalableDimension", with_default(text(), "sagemaker:variant:DesiredInstanceCount")},
      {"serviceNamespace", with_default(text(), "sagemaker")},
      {"minCapacity", {{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}},
      {"maxCapacity", {{"type", "integer"}, {"format", "int64"}, {"minimum", 1}}},
      {"suspendedState",
       {{"type", "object"},
        {"properties",
         {{"dynamicScalingInSuspended", off},
          {"dynamicScalingOutSuspended", off},
          {"scheduledScalingSuspended", off}}}}},
      {"targetTrackingScalingPolicyConfiguration", std::move(config)}};
  add_place(spec);
  rule(spec, "self.minCapacity <= self.maxCapacity", "minCapacity is at most maxCapacity");
  return spec;
}

}  // namespace

JsonObject spec_schema(const Kind& kind) {
  switch (kind.nature) {
    case Nature::job: return job_spec(kind);
    case Nature::definition: return definition_spec(kind);
    case Nature::hosting: return hosting_spec();
    case Nature::scaling: return scaling_spec();
  }
  return {};
}

}  // namespace meridian::operators
