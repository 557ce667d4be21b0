// Compute environments and job queues.
//
// Of a compute environment, its state and maxvCpus count here; where its instances would be is kept
// and shown. Changes are complete when the call answers, so the status is VALID at once.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kMost = 50;

JsonObject answer_of(const Shelf& shelf, const JsonObject& item) {
  return {{shelf.name_member, *base::find(item, shelf.name_member)},
          {shelf.arn_member, *base::find(item, shelf.arn_member)}};
}

void check_count(const Core& core, const Shelf& shelf) {
  if (all_items(core, shelf).size() >= kMost)
    refuse(fmt::format("a region has at most {} of type {}", kMost, shelf.type));
}

void check_resources(const Json& resources) {
  if (base::int_or(resources, "maxvCpus", 1) < 0 || base::int_or(resources, "minvCpus", 0) < 0)
    refuse("computeResources: minvCpus and maxvCpus must not be negative");
}

bool uses(const JsonObject& queue, const std::string& environment) {
  const Json* order = base::find(queue, "computeEnvironmentOrder");
  return order != nullptr && std::ranges::any_of(order->as_array(), [&](const Json& each) {
           return name_of(base::string_or(each, "computeEnvironment")) == environment;
         });
}

void check_order(const Core& core, const JsonObject& input) {
  const Json* order = base::find(input, "computeEnvironmentOrder");
  if (order == nullptr) return;
  if (order->as_array().empty() || order->as_array().size() > 3)
    refuse("computeEnvironmentOrder: 1 to 3 compute environments are allowed");
  for (const Json& each : order->as_array())
    (void)get_item(core, kEnvironments, base::string_or(each, "computeEnvironment"));
}

void check_limits(const JsonObject& input) {
  const Json* limits = base::find(input, "jobStateTimeLimitActions");
  if (limits == nullptr) return;
  for (const Json& each : limits->as_array())
    if (const auto most = base::int_or(each, "maxTimeSeconds", 0); most < 600 || most > 86'400)
      refuse("jobStateTimeLimitActions.maxTimeSeconds must be between 600 and 86400");
}

bool has_open_jobs(const Core& core, const std::string& queue) {
  return !core.parts.store
              .list({.prefix = core.prefix + "job/",
                     .equals = {{"queue", queue}, {"open", "1"}},
                     .limit = 1})
              .documents.empty();
}

// ARNs where names were given, as the API shows them.
JsonArray with_arns(const Core& core, const JsonArray& order) {
  JsonArray out;
  for (const Json& each : order) {
    JsonObject entry = each.as_object();
    entry["computeEnvironment"] =
        core.arn("compute-environment", name_of(base::string_or(each, "computeEnvironment")));
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

void tell_queues(Core& core) {
  core.inbox.lock()->queues = true;
  core.wake();
}

Json create_compute_environment(Core& core, const JsonObject& input) {
  check_count(core, kEnvironments);
  const Json* resources = base::find(input, "computeResources");
  if (base::string_or(input, "type") == "MANAGED" && resources == nullptr)
    refuse("a MANAGED compute environment needs computeResources");
  if (base::find(input, "eksConfiguration"))
    refuse("compute environments on EKS can't be run here");
  if (resources) check_resources(*resources);
  JsonObject item = input;
  item["state"] = base::string_or(input, "state", "ENABLED");
  item["status"] = "VALID";
  item["statusReason"] = "ComputeEnvironment Healthy";
  item["containerOrchestrationType"] = "ECS";
  item["uuid"] = core.parts.random.uuid();
  if (!item.contains("tags")) item["tags"] = JsonObject{};
  const std::string name = base::string_or(input, "computeEnvironmentName");
  item["ecsClusterArn"] = fmt::format("arn:aws:ecs:{}:{}:cluster/{}", core.settings.region,
                                      core.settings.account, name);
  item = create_item(core, kEnvironments, name, std::move(item));
  tell_queues(core);
  return answer_of(kEnvironments, item);
}

Json update_compute_environment(Core& core, const JsonObject& input) {
  const std::string name = base::string_or(input, "computeEnvironment");
  if (const Json* resources = base::find(input, "computeResources")) check_resources(*resources);
  JsonObject answer;
  change_item(core, kEnvironments, name, [&](JsonObject& item) {
    for (const auto& [member, value] : input) {
      if (member == "computeEnvironment") continue;
      if (member != "computeResources") {
        item[member] = value;
        continue;
      }
      if (!item.contains(member)) item[member] = JsonObject{};
      for (const auto& [part, changed] : value.as_object())
        item[member].as_object()[part] = changed;
    }
    answer = answer_of(kEnvironments, item);
  });
  tell_queues(core);
  return answer;
}

Json delete_compute_environment(Core& core, const JsonObject& input) {
  const std::string name = name_of(base::string_or(input, "computeEnvironment"));
  const auto item = find_item(core, kEnvironments, name);
  if (!item) return JsonObject{};
  if (base::string_or(*item, "state") != "DISABLED")
    refuse("Cannot delete, the compute environment '" + name + "' must be DISABLED first");
  for (const JsonObject& queue : all_items(core, kQueues))
    if (uses(queue, name))
      refuse("Cannot delete, found existing JobQueue relationship: " +
             base::string_or(queue, "jobQueueName"));
  remove_item(core, kEnvironments, name);
  tell_queues(core);
  return JsonObject{};
}

Json describe_compute_environments(Core& core, const JsonObject& input) {
  return describe_items(core, kEnvironments, input, "computeEnvironments", "computeEnvironments");
}

Json create_job_queue(Core& core, const JsonObject& input) {
  check_count(core, kQueues);
  if (!base::find(input, "computeEnvironmentOrder") &&
      base::string_or(input, "jobQueueType") != "SAGEMAKER_TRAINING")
    refuse("computeEnvironmentOrder must be given");
  check_order(core, input);
  check_limits(input);
  if (const std::string policy = base::string_or(input, "schedulingPolicyArn"); !policy.empty())
    (void)get_item(core, kPolicies, policy);
  JsonObject item = input;
  item["state"] = base::string_or(input, "state", "ENABLED");
  item["status"] = "VALID";
  item["statusReason"] = "JobQueue Healthy";
  if (!item.contains("jobQueueType")) item["jobQueueType"] = "ECS";
  if (!item.contains("tags")) item["tags"] = JsonObject{};
  if (!item.contains("jobStateTimeLimitActions")) item["jobStateTimeLimitActions"] = JsonArray{};
  const Json* order = base::find(input, "computeEnvironmentOrder");
  item["computeEnvironmentOrder"] = order ? with_arns(core, order->as_array()) : JsonArray{};
  item = create_item(core, kQueues, base::string_or(input, "jobQueueName"), std::move(item));
  tell_queues(core);
  return answer_of(kQueues, item);
}

Json update_job_queue(Core& core, const JsonObject& input) {
  check_order(core, input);
  check_limits(input);
  const std::string policy = base::string_or(input, "schedulingPolicyArn");
  if (!policy.empty()) (void)get_item(core, kPolicies, policy);
  JsonObject answer;
  change_item(core, kQueues, base::string_or(input, "jobQueue"), [&](JsonObject& item) {
    if (!policy.empty() && base::string_or(item, "schedulingPolicyArn").empty())
      refuse("a queue that was made without a scheduling policy can't be given one");
    for (const char* member : {"state", "priority", "schedulingPolicyArn",
                               "serviceEnvironmentOrder", "jobStateTimeLimitActions"})
      if (const Json* value = base::find(input, member)) item[member] = *value;
    if (const Json* order = base::find(input, "computeEnvironmentOrder"))
      item["computeEnvironmentOrder"] = with_arns(core, order->as_array());
    answer = answer_of(kQueues, item);
  });
  tell_queues(core);
  return answer;
}

Json delete_job_queue(Core& core, const JsonObject& input) {
  const std::string name = name_of(base::string_or(input, "jobQueue"));
  const auto item = find_item(core, kQueues, name);
  if (!item) return JsonObject{};
  if (base::string_or(*item, "state") != "DISABLED")
    refuse("Cannot delete, the job queue '" + name + "' must be DISABLED first");
  if (has_open_jobs(core, name))
    refuse("Cannot delete, the job queue '" + name + "' still has jobs; terminate them first");
  remove_item(core, kQueues, name);
  tell_queues(core);
  return JsonObject{};
}

Json describe_job_queues(Core& core, const JsonObject& input) {
  return describe_items(core, kQueues, input, "jobQueues", "jobQueues");
}

Json get_job_queue_snapshot(Core& core, const JsonObject& input) {
  const JsonObject queue = get_item(core, kQueues, base::string_or(input, "jobQueue"));
  JsonArray jobs;
  {
    auto waits = core.waits.lock();
    if (const auto wait = waits->find(base::string_or(queue, "jobQueueName")); wait != waits->end())
      for (const Wait::Place& place : wait->second.front)
        jobs.push_back(
            JsonObject{{"jobArn", place.arn}, {"earliestTimeAtPosition", place.since.ms}});
  }
  return JsonObject{{"frontOfQueue", JsonObject{{"jobs", std::move(jobs)},
                                                {"lastUpdatedAt", core.parts.clock.now().ms}}}};
}

void make_defaults(Core& core) {
  const std::string marker = core.prefix + "defaults";
  if (core.parts.store.find(marker)) return;
  int vcpus = 256;
  if (const auto* pool = core.parts.capacity.find_pool(kVcpu)) vcpus = pool->count;
  const auto unless_there = [](auto make) {
    try {
      make();
    } catch (const aws::ApiError& error) {  // a crash came between it and the marker
      if (error.message().find("already exists") == std::string::npos) throw;
    }
  };
  unless_there([&] {
    create_compute_environment(core, {{"computeEnvironmentName", "default"},
                                      {"type", "MANAGED"},
                                      {"computeResources",
                                       {{"type", "EC2"},
                                        {"minvCpus", 0},
                                        {"maxvCpus", vcpus},
                                        {"desiredvCpus", 0},
                                        {"instanceTypes", JsonArray{"optimal"}},
                                        {"subnets", JsonArray{}},
                                        {"securityGroupIds", JsonArray{}}}}});
  });
  unless_there([&] {
    create_job_queue(core,
                     {{"jobQueueName", "default"},
                      {"priority", 1},
                      {"computeEnvironmentOrder",
                       JsonArray{JsonObject{{"order", 1}, {"computeEnvironment", "default"}}}}});
  });
  (void)core.parts.store.commit({store::put(marker, "{}")});
}

}  // namespace meridian::region::batch
