// SPDX-License-Identifier: Apache-2.0
#include "operators/scaling_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/model.h"
#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/form.h"
#include "operators/job_status.h"
#include "operators/steps.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Status = Condition::Status;

const Kind& scaling() { return get_kind("HostingAutoscalingPolicy"); }

const Json& spec_of(const Json& object) {
  static const Json kNone = JsonObject{};
  const Json* spec = base::find(object, "spec");
  return spec != nullptr ? *spec : kNone;
}

std::vector<std::string> listed(const Json& object) {
  std::vector<std::string> names;
  const Json* list = base::find_path(object, "status.resourceIDList");
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& name : list->get_array()) {
    if (name.is_string()) names.emplace_back(base::view(name.get_string()));
  }
  return names;
}

std::string policy_name(const Json& object) {
  return base::string_or(spec_of(object), "policyName", "SageMakerEndpointInvocationScalingPolicy");
}

// What both calls, and those that undo them, name a target by.
JsonObject address(const Json& object, const std::string& resource) {
  const Json& spec = spec_of(object);
  return {{"ServiceNamespace", base::string_or(spec, "serviceNamespace", "sagemaker")},
          {"ResourceId", resource},
          {"ScalableDimension",
           base::string_or(spec, "scalableDimension", "sagemaker:variant:DesiredInstanceCount")}};
}

const aws::Shape& input_of(std::string_view operation) {
  return *aws::get_model("application-autoscaling").find_operation(operation)->input;
}

JsonObject input_for(const Json& object, const std::string& resource, std::string_view operation) {
  JsonObject input;
  const Json spec = to_api(input_of(operation), spec_of(object));
  if (const JsonObject* members = spec.if_object()) input = *members;
  // spec.resourceId is a list; the call takes one.
  for (auto& [member, value] : address(object, resource)) input[member] = value;
  return input;
}

}  // namespace

std::vector<std::string> scaling_resources(const Json& policy) {
  std::vector<std::string> names;
  const Json* list = base::find(spec_of(policy), "resourceId");
  if (list == nullptr || !list->is_array()) return names;
  for (const Json& entry : list->get_array()) {
    names.push_back(fmt::format("endpoint/{}/variant/{}", base::string_or(entry, "endpointName"),
                                base::string_or(entry, "variantName")));
  }
  return names;
}

JsonObject target_input(const Json& policy, const std::string& resource) {
  return input_for(policy, resource, "RegisterScalableTarget");
}

JsonObject policy_input(const Json& policy, const std::string& resource) {
  JsonObject input = input_for(policy, resource, "PutScalingPolicy");
  input["PolicyName"] = policy_name(policy);
  if (!input.contains("PolicyType")) input["PolicyType"] = "TargetTrackingScaling";
  return input;
}

ScalingController::ScalingController(Resources& policies, const ControllerParts& parts,
                                     ControllerSettings settings)
    : policies_(policies), parts_(parts), settings_(std::move(settings)), attempts_(parts.clock) {}

Json ScalingController::call(const Json& object, std::string_view operation,
                             const JsonObject& input) {
  return parts_.remotes.get(place_of(object)).call("application-autoscaling", operation, input);
}

control::Outcome ScalingController::step(const control::Key& key) {
  std::optional<Json> object = policies_.find(object_of(key));
  if (!object) return control::Outcome::done();
  if (const auto left = attempts_.left(*object); left.count() > 0)
    return control::Outcome::again(left);
  return run_step([&] { return carry(*object); },
                  [&](const base::Error& error) { return after_error(*object, error); });
}

control::Outcome ScalingController::carry(Json& object) {
  const auto finalizers = kube::finalizers_of(object);
  const bool guarded = std::ranges::find(finalizers, kFinalizer) != finalizers.end();
  if (kube::is_deleting(object)) return guarded ? release(object) : control::Outcome::done();
  const bool current =
      base::int_or(kube::status_of(object), "observedGeneration", 0) == kube::generation_of(object);
  if (current && condition_status(object, "Stalled") == "True") return control::Outcome::done();
  if (current && condition_status(object, "Ready") == "True" && is_complete(object))
    return control::Outcome::again(kLook);
  if (!guarded) object = policies_.add_finalizer(object, kFinalizer);
  put(object);
  attempts_.forget(kube::uid_of(object));
  return control::Outcome::again(kLook);
}

// Whether the region still has a policy for each of them.
bool ScalingController::is_complete(const Json& object) {
  for (const std::string& resource : scaling_resources(object)) {
    JsonObject input = address(object, resource);
    input["PolicyNames"] = {policy_name(object)};
    const Json answer = call(object, "DescribeScalingPolicies", input);
    const Json* policies = base::find(answer, "ScalingPolicies");
    if (policies == nullptr || !policies->is_array() || policies->get_array().empty()) return false;
  }
  return true;
}

void ScalingController::put(Json& object) {
  const std::vector<std::string> wanted = scaling_resources(object), before = listed(object);
  const std::string old_policy = base::string_or(kube::status_of(object), "policyName");
  const bool renamed = !old_policy.empty() && old_policy != policy_name(object);
  std::vector<std::string> all = wanted;
  for (const std::string& resource : before) {
    if (std::ranges::find(wanted, resource) == wanted.end()) all.push_back(resource);
  }
  JsonObject status = kube::status_of(object);
  if (status.empty()) status = first_status(scaling(), object, parts_.clock.now());
  status["resourceIDList"] = JsonArray(all.begin(), all.end());
  // The old name stays until its policies are gone.
  if (!renamed) status["policyName"] = policy_name(object);
  object = policies_.write_status(object, status);

  for (const std::string& resource : before) {
    const bool kept = std::ranges::find(wanted, resource) != wanted.end();
    if (!kept || renamed) remove(object, old_policy, resource);
  }
  for (const std::string& resource : wanted) {
    call(object, "RegisterScalableTarget", target_input(object, resource));
    call(object, "PutScalingPolicy", policy_input(object, resource));
  }
  const base::Timestamp now = parts_.clock.now();
  const std::int64_t generation = kube::generation_of(object);
  status = kube::status_of(object);
  status["policyName"] = policy_name(object);
  status["resourceIDList"] = JsonArray(wanted.begin(), wanted.end());
  status[scaling().status_field] = "Created";
  status["region"] = place_of(object).region;
  status["observedGeneration"] = generation;
  status["lastCheckTime"] = kube::time_text(now);
  status.erase("additional");
  status.erase("reason");
  const std::string message = fmt::format("{} follows {} variant{}", policy_name(object),
                                          wanted.size(), wanted.size() == 1 ? "" : "s");
  set_condition(status, {"Ready", Status::yes, "Created", message}, generation, now);
  clear_condition(status, "Stalled");
  clear_condition(status, "Reconciling");
  object = policies_.write_status(object, status);
  parts_.events.write(object, EventType::normal, before.empty() ? "Created" : "Updated", message);
}

void ScalingController::remove(const Json& object, const std::string& policy,
                               const std::string& resource) {
  const auto unless_missing = [&](std::string_view operation, const JsonObject& input) {
    try {
      call(object, operation, input);
    } catch (const base::Error& error) {
      if (!has_no_record(error)) throw;
    }
  };
  JsonObject input = address(object, resource);
  if (!policy.empty()) {
    input["PolicyName"] = policy;
    unless_missing("DeleteScalingPolicy", input);
    input.erase("PolicyName");
  }
  unless_missing("DeregisterScalableTarget", input);
}

control::Outcome ScalingController::release(Json& object) {
  const Json* metadata = base::find(object, "metadata");
  const auto since = kube::parse_time(base::string_or(*metadata, "deletionTimestamp"));
  const bool overdue = since && parts_.clock.now().ms - since->ms > settings_.escape.count();
  const std::string policy = base::string_or(kube::status_of(object), "policyName");
  try {
    for (const std::string& resource : listed(object)) remove(object, policy, resource);
  } catch (const base::Error& error) {
    if (!overdue) throw;
    parts_.events.write(object, EventType::warning, "Abandoned",
                        fmt::format("{} did not take the deletion of {} in time: {}",
                                    place_of(object).text(), policy, error.message()));
  }
  attempts_.forget(kube::uid_of(object));
  policies_.remove_finalizer(object, kFinalizer);
  return control::Outcome::done();
}

control::Outcome ScalingController::after_error(Json& object, const base::Error& error) {
  const base::Timestamp now = parts_.clock.now();
  const std::string before = base::string_or(kube::status_of(object), "reason");
  if (judge(error) == Verdict::terminal && !kube::is_deleting(object)) {
    object = policies_.write_status(
        object, failed_status(scaling(), object, reason_of(error), error.message(), now));
    parts_.events.write(object, EventType::warning, reason_of(error), error.message());
    return control::Outcome::done();
  }
  const base::Duration pause = attempts_.next(object);
  object = policies_.write_status(object, retrying_status(scaling(), object, reason_of(error),
                                                          error.message(), now + pause, now));
  if (before != reason_of(error))
    parts_.events.write(object, EventType::warning, reason_of(error), error.message());
  return control::Outcome::again(pause);
}

}  // namespace meridian::operators
