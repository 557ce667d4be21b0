// SPDX-License-Identifier: Apache-2.0
#include "region/batch/service/calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "region/batch/jobs/retry.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/service/record.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

ServiceRecord get_record(const Core& core, const std::string& id) {
  const auto document = core.parts.store.find(service_key(core.prefix, name_of(id)));
  if (!document) refuse("there is no service job '" + id + "' in " + core.settings.region);
  return parse_service_record(*document);
}

template <class Change>
ServiceRecord change_record(Core& core, const std::string& id, Change change) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    ServiceRecord record = get_record(core, id);
    if (record.ended()) return record;
    change(record);
    if (core.parts.store.commit({write_of(core.prefix, record)})) {
      core.wake();
      return record;
    }
  }
  throw base::Error(base::Code::conflict, "service job " + id + " is too busy", base::Retry::yes);
}

void check_limits(const JsonObject& input) {
  const Json* limits = base::find(input, "capacityLimits");
  if (limits == nullptr) return;
  for (const Json& each : limits->as_array())
    if (base::int_or(each, "maxCapacity", 0) < 1 ||
        base::string_or(each, "capacityUnit", "NUM_INSTANCES") != "NUM_INSTANCES")
      refuse("capacityLimits: maxCapacity must be at least 1, and capacityUnit NUM_INSTANCES");
}

JsonObject environment_answer(const JsonObject& item) {
  return {{"serviceEnvironmentName", item.at("serviceEnvironmentName")},
          {"serviceEnvironmentArn", item.at("serviceEnvironmentArn")}};
}

std::string check_submission(const Core& core, const JsonObject& input) {
  check_name("jobName", base::string_or(input, "jobName"));
  const JsonObject queue = get_item(core, kQueues, base::string_or(input, "jobQueue"));
  const std::string name = base::string_or(queue, "jobQueueName");
  if (base::string_or(queue, "jobQueueType") != "SAGEMAKER_TRAINING")
    refuse("the job queue '" + name + "' is of type " + base::string_or(queue, "jobQueueType") +
           "; service jobs need one of type SAGEMAKER_TRAINING");
  if (base::string_or(queue, "state") != "ENABLED")
    refuse("the job queue '" + name + "' is DISABLED: it takes no jobs");
  const auto payload = base::parse_json(base::string_or(input, "serviceRequestPayload"));
  if (!payload || !payload->is_object())
    refuse("serviceRequestPayload must be the JSON of a CreateTrainingJob request");
  const Json* retry = base::find(input, "retryStrategy");
  if (const auto attempts = retry ? base::int_or(*retry, "attempts", 1) : 1;
      attempts < 1 || attempts > 10)
    refuse("retryStrategy.attempts must be between 1 and 10");
  return name;
}

JsonObject attempt_id(const Core& core, const ServiceRecord& record) {
  return {{"serviceResourceId",
           JsonObject{{"name", "TrainingJobArn"},
                      {"value",
                       fmt::format("arn:aws:sagemaker:{}:{}:training-job/{}", core.settings.region,
                                   core.settings.account, training_name(record))}}}};
}

JsonObject summary_of(const Core& core, const ServiceRecord& record) {
  JsonObject out{{"jobId", record.id},
                 {"jobArn", core.arn("service-job", record.id)},
                 {"jobName", record.request.at("jobName")},
                 {"serviceJobType", record.request.at("serviceJobType")},
                 {"status", record.status},
                 {"createdAt", record.created.ms},
                 {"isTerminated", record.terminated},
                 {"capacityUsage", JsonArray{JsonObject{{"capacityUnit", "NUM_INSTANCES"},
                                                        {"quantity", instances_of(record)}}}}};
  if (!record.reason.empty()) out["statusReason"] = record.reason;
  if (record.attempt > 0) out["latestAttempt"] = attempt_id(core, record);
  if (record.scheduled) out["scheduledAt"] = record.scheduled->ms;
  if (record.started) out["startedAt"] = record.started->ms;
  if (record.stopped) out["stoppedAt"] = record.stopped->ms;
  if (const Json* share = base::find(record.request, "shareIdentifier"))
    out["shareIdentifier"] = *share;
  return out;
}

}  // namespace

Json create_service_environment(Core& core, const JsonObject& input) {
  check_limits(input);
  JsonObject item = input;
  item["state"] = base::string_or(input, "state", "ENABLED");
  item["status"] = "VALID";
  return environment_answer(create_item(core, kServiceEnvironments,
                                        base::string_or(input, "serviceEnvironmentName"),
                                        std::move(item)));
}

Json update_service_environment(Core& core, const JsonObject& input) {
  check_limits(input);
  JsonObject answer;
  change_item(core, kServiceEnvironments, base::string_or(input, "serviceEnvironment"),
              [&](JsonObject& item) {
                for (const char* member : {"state", "capacityLimits"})
                  if (const Json* value = base::find(input, member)) item[member] = *value;
                answer = environment_answer(item);
              });
  core.wake();
  return answer;
}

Json delete_service_environment(Core& core, const JsonObject& input) {
  const std::string name = name_of(base::string_or(input, "serviceEnvironment"));
  const auto item = find_item(core, kServiceEnvironments, name);
  if (!item) return JsonObject{};
  if (base::string_or(*item, "state") != "DISABLED")
    refuse("Cannot delete, the service environment '" + name + "' must be DISABLED first");
  for (const JsonObject& queue : all_items(core, kQueues))
    if (const Json* order = base::find(queue, "serviceEnvironmentOrder"))
      for (const Json& each : order->as_array())
        if (name_of(base::string_or(each, "serviceEnvironment")) == name)
          refuse("Cannot delete, found existing JobQueue relationship: " +
                 base::string_or(queue, "jobQueueName"));
  remove_item(core, kServiceEnvironments, name);
  return JsonObject{};
}

Json describe_service_environments(Core& core, const JsonObject& input) {
  return describe_items(core, kServiceEnvironments, input, "serviceEnvironments",
                        "serviceEnvironments");
}

Json submit_service_job(Core& core, const JsonObject& input) {
  ServiceRecord record;
  record.queue = check_submission(core, input);
  record.id = core.parts.random.uuid();
  record.request = input;
  record.request.erase("clientToken");
  record.priority = static_cast<int>(base::int_or(input, "schedulingPriority", 0));
  record.created = core.parts.clock.now();
  std::vector<store::Write> writes{write_of(core.prefix, record)};
  const std::string token = base::string_or(input, "clientToken");
  const std::string token_key = core.prefix + "service-token/" + token;
  if (!token.empty()) writes.push_back(store::put(token_key, record.id, {}, 0));
  if (!core.parts.store.commit(std::move(writes))) {
    const auto known = core.parts.store.find(token_key);
    if (!known) throw base::Error(base::Code::internal, "a new job's id is taken");
    record = get_record(core, known->body);  // the same call, made again
  }
  core.wake();
  return JsonObject{{"jobArn", core.arn("service-job", record.id)},
                    {"jobName", record.request.at("jobName")},
                    {"jobId", record.id}};
}

Json describe_service_job(Core& core, const JsonObject& input) {
  const ServiceRecord record = get_record(core, base::string_or(input, "jobId"));
  JsonObject out = summary_of(core, record);
  for (const char* member : {"retryStrategy", "serviceRequestPayload", "timeoutConfig", "tags",
                             "quotaShareName", "preemptionConfiguration"})
    if (const Json* value = base::find(record.request, member)) out[member] = *value;
  out["jobQueue"] = core.arn("job-queue", record.queue);
  out["schedulingPriority"] = record.priority;
  out["attempts"] = record.attempts;
  return out;
}

Json list_service_jobs(Core& core, const JsonObject& input) {
  const JsonObject queue = get_item(core, kQueues, base::string_or(input, "jobQueue"));
  store::ListQuery query{.prefix = core.prefix + "service-job/",
                         .equals = {{"queue", base::string_or(queue, "jobQueueName")}},
                         .order_by = "created",
                         .order = store::ListQuery::Order::descending};
  const Json* filters = base::find(input, "filters");
  const Json* filter =
      filters && !filters->as_array().empty() ? &filters->as_array().front() : nullptr;
  if (filter != nullptr && base::string_or(*filter, "name") != "JOB_NAME")
    refuse("filters: only JOB_NAME can be used for service jobs");
  if (filter == nullptr) query.equals["status"] = base::string_or(input, "jobStatus", "RUNNING");
  query.limit = static_cast<std::size_t>(
      std::clamp<std::int64_t>(base::int_or(input, "maxResults", 100), 1, 100));
  query.token = base::string_or(input, "nextToken");
  const store::Page page = core.parts.store.list(query);
  JsonArray jobs;
  for (const auto& document : page.documents) {
    const ServiceRecord record = parse_service_record(document);
    const std::string name = base::string_or(record.request, "jobName");
    const bool fits = filter == nullptr ||
                      std::ranges::any_of(filter->at("values").as_array(), [&](const Json& value) {
                        return reason_matches(base::view(value.as_string()), name);
                      });
    if (fits) jobs.push_back(summary_of(core, record));
  }
  JsonObject answer{{"jobSummaryList", std::move(jobs)}};
  if (!page.next_token.empty()) answer["nextToken"] = page.next_token;
  return answer;
}

Json terminate_service_job(Core& core, const JsonObject& input) {
  change_record(core, base::string_or(input, "jobId"), [&](ServiceRecord& record) {
    record.terminated = true;
    record.reason = base::string_or(input, "reason");
  });
  return JsonObject{};
}

Json update_service_job(Core& core, const JsonObject& input) {
  const ServiceRecord record =
      change_record(core, base::string_or(input, "jobId"), [&](ServiceRecord& job) {
        job.priority = static_cast<int>(base::int_or(input, "schedulingPriority", 0));
      });
  return JsonObject{{"jobArn", core.arn("service-job", record.id)},
                    {"jobName", record.request.at("jobName")},
                    {"jobId", record.id}};
}

}  // namespace meridian::region::batch
