// Scheduling policies and consumable resources.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "region/batch/jobs/shares.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

void check_fair_share(const JsonObject& input) {
  const Json* fair = base::find(input, "fairsharePolicy");
  if (fair == nullptr) return;
  const auto within = [&](const char* member, std::int64_t most) {
    const std::int64_t value = base::int_or(*fair, member, 0);
    if (value < 0 || value > most)
      refuse(fmt::format("fairsharePolicy.{} must be between 0 and {}", member, most));
  };
  within("shareDecaySeconds", 604'800);
  within("computeReservation", 99);
  const Json* list = base::find(*fair, "shareDistribution");
  if (list == nullptr) return;
  std::vector<std::string> identifiers;
  for (const Json& each : list->as_array()) {
    identifiers.push_back(base::string_or(each, "shareIdentifier"));
    const double weight = base::double_or(each, "weightFactor", 1);
    if (weight < 0.0001 || weight > 999.9999)
      refuse("shareDistribution.weightFactor must be between 0.0001 and 999.9999");
  }
  if (identifiers.size() > 500) refuse("shareDistribution: at most 500 shares are allowed");
  if (const std::string both = overlapping_shares(identifiers); !both.empty())
    refuse("shareDistribution: " + both + " overlap");
}

// How many of each resource the jobs that run now hold.
std::int64_t in_use(const Core& core, const std::string& name,
                    const std::function<void(const JobRecord&, std::int64_t)>& each = {}) {
  std::int64_t used = 0;
  store::ListQuery query{.prefix = core.prefix + "job/", .equals = {{"open", "1"}}, .limit = 1000};
  do {
    const store::Page page = core.parts.store.list(query);
    for (const auto& document : page.documents) {
      const JobRecord job = parse_job(document);
      const auto spec = core.parts.store.find(spec_key(core.prefix, job.id));
      if (!spec) continue;
      const JobSpec read = read_spec(base::parse_stored_json(spec->body, spec->key).as_object());
      const auto found = read.consumables.find(name);
      if (found == read.consumables.end()) continue;
      used += found->second * static_cast<std::int64_t>(job.states.count(Status::starting) +
                                                        job.states.count(Status::running));
      if (each) each(job, found->second);
    }
    query.token = page.next_token;
  } while (!query.token.empty());
  return used;
}

}  // namespace

Json create_scheduling_policy(Core& core, const JsonObject& input) {
  check_fair_share(input);
  const std::string name = base::string_or(input, "name");
  const JsonObject item = create_item(core, kPolicies, name, input);
  tell_queues(core);
  return JsonObject{{"name", name}, {"arn", item.at("arn")}};
}

Json update_scheduling_policy(Core& core, const JsonObject& input) {
  check_fair_share(input);
  change_item(core, kPolicies, base::string_or(input, "arn"), [&](JsonObject& item) {
    if (const Json* fair = base::find(input, "fairsharePolicy")) item["fairsharePolicy"] = *fair;
  });
  tell_queues(core);
  return JsonObject{};
}

Json delete_scheduling_policy(Core& core, const JsonObject& input) {
  const std::string name = name_of(base::string_or(input, "arn"));
  for (const JsonObject& queue : all_items(core, kQueues))
    if (name_of(base::string_or(queue, "schedulingPolicyArn")) == name)
      refuse("the scheduling policy '" + name + "' is used by the job queue '" +
             base::string_or(queue, "jobQueueName") + "'");
  remove_item(core, kPolicies, name);
  tell_queues(core);
  return JsonObject{};
}

Json describe_scheduling_policies(Core& core, const JsonObject& input) {
  return describe_items(core, kPolicies, input, "arns", "schedulingPolicies");
}

Json list_scheduling_policies(Core& core, const JsonObject& input) {
  Json answer = describe_items(core, kPolicies, input, "", "schedulingPolicies");
  for (Json& each : answer.at("schedulingPolicies").as_array())
    each = JsonObject{{"arn", each.at("arn")}};
  return answer;
}

Json create_consumable_resource(Core& core, const JsonObject& input) {
  JsonObject item = input;
  if (base::int_or(input, "totalQuantity", 0) < 0) refuse("totalQuantity must not be negative");
  if (const std::string type = base::string_or(input, "resourceType", "REPLENISHABLE");
      type != "REPLENISHABLE")
    refuse("resourceType '" + type + "': only REPLENISHABLE resources can be counted here");
  item["resourceType"] = "REPLENISHABLE";
  if (!item.contains("totalQuantity")) item["totalQuantity"] = 0;
  item["createdAt"] = core.parts.clock.now().ms;
  item = create_item(core, kConsumables, base::string_or(input, "consumableResourceName"),
                     std::move(item));
  tell_queues(core);
  return JsonObject{{"consumableResourceName", item.at("consumableResourceName")},
                    {"consumableResourceArn", item.at("consumableResourceArn")}};
}

Json update_consumable_resource(Core& core, const JsonObject& input) {
  const std::string operation = base::string_or(input, "operation", "SET");
  const std::int64_t quantity = base::int_or(input, "quantity", 0);
  JsonObject answer;
  change_item(core, kConsumables, base::string_or(input, "consumableResource"),
              [&](JsonObject& item) {
                std::int64_t total = base::int_or(item, "totalQuantity", 0);
                if (operation == "SET")
                  total = quantity;
                else if (operation == "ADD")
                  total += quantity;
                else if (operation == "REMOVE")
                  total -= quantity;
                else
                  refuse("operation '" + operation + "' is none of SET, ADD, REMOVE");
                if (total < 0) refuse("totalQuantity would be negative");
                item["totalQuantity"] = total;
                answer = {{"consumableResourceName", item.at("consumableResourceName")},
                          {"consumableResourceArn", item.at("consumableResourceArn")},
                          {"totalQuantity", total}};
              });
  tell_queues(core);
  return answer;
}

Json delete_consumable_resource(Core& core, const JsonObject& input) {
  const std::string name = name_of(base::string_or(input, "consumableResource"));
  bool wanted = false;
  (void)in_use(core, name, [&](const JobRecord&, std::int64_t) { wanted = true; });
  if (wanted)
    refuse("the consumable resource '" + name + "' is wanted by jobs that have not ended");
  remove_item(core, kConsumables, name);
  tell_queues(core);
  return JsonObject{};
}

Json describe_consumable_resource(Core& core, const JsonObject& input) {
  JsonObject item = get_item(core, kConsumables, base::string_or(input, "consumableResource"));
  const std::int64_t used = in_use(core, base::string_or(item, "consumableResourceName"));
  item["inUseQuantity"] = used;
  item["availableQuantity"] = base::int_or(item, "totalQuantity", 0) - used;
  return item;
}

Json list_consumable_resources(Core& core, const JsonObject& input) {
  Json answer = describe_items(core, kConsumables, input, "", "consumableResources");
  for (Json& each : answer.at("consumableResources").as_array()) {
    JsonObject& item = each.as_object();
    item["inUseQuantity"] = in_use(core, base::string_or(item, "consumableResourceName"));
    item.erase("tags");
    item.erase("createdAt");
  }
  return answer;
}

Json list_jobs_by_consumable_resource(Core& core, const JsonObject& input) {
  const JsonObject item =
      get_item(core, kConsumables, base::string_or(input, "consumableResource"));
  const std::string name = base::string_or(item, "consumableResourceName");
  JsonArray jobs;
  (void)in_use(core, name, [&](const JobRecord& job, std::int64_t quantity) {
    jobs.push_back(JsonObject{
        {"jobArn", job.arn},
        {"jobQueueArn", core.arn("job-queue", job.queue)},
        {"jobName", job.name},
        {"jobDefinitionArn", job.definition},
        {"jobStatus", batch::name(job.status())},
        {"quantity", quantity},
        {"createdAt", job.created.ms},
        {"consumableResourceProperties",
         JsonObject{{"consumableResourceList", JsonArray{JsonObject{{"consumableResource", name},
                                                                    {"quantity", quantity}}}}}}});
  });
  return JsonObject{{"jobs", std::move(jobs)}};
}

}  // namespace meridian::region::batch
