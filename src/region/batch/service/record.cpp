// SPDX-License-Identifier: Apache-2.0
#include "region/batch/service/record.h"

#include <algorithm>

#include "base/strings.h"
#include "region/batch/jobs/retry.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::optional<base::Timestamp> read_time(const Json& json, std::string_view member) {
  const std::int64_t ms = base::int_or(json, member, -1);
  if (ms < 0) return std::nullopt;
  return base::Timestamp{ms};
}

JsonObject payload_of(const ServiceRecord& record) {
  return base::parse_stored_json(base::string_or(record.request, "serviceRequestPayload"),
                                 record.id)
      .as_object();
}

}  // namespace

bool ServiceRecord::holds() const {
  return status == "SCHEDULED" || status == "STARTING" || status == "RUNNING";
}

std::string service_key(const std::string& prefix, const std::string& id) {
  return prefix + "service-job/" + id;
}

store::Write write_of(const std::string& prefix, const ServiceRecord& record) {
  JsonObject out{{"request", record.request},    {"id", record.id},
                 {"queue", record.queue},        {"status", record.status},
                 {"reason", record.reason},      {"priority", record.priority},
                 {"attempt", record.attempt},    {"terminated", record.terminated},
                 {"created", record.created.ms}, {"attempts", record.attempts}};
  if (record.scheduled) out["scheduled"] = record.scheduled->ms;
  if (record.started) out["started"] = record.started->ms;
  if (record.stopped) out["stopped"] = record.stopped->ms;
  return store::put(service_key(prefix, record.id), base::to_text(out),
                    {{"queue", record.queue},
                     {"status", record.status},
                     {"created", store::index_number(record.created.ms)},
                     {"open", record.ended() ? "0" : "1"}},
                    record.revision);
}

ServiceRecord parse_service_record(const store::Document& document) {
  const Json json = base::parse_stored_json(document.body, document.key);
  ServiceRecord record;
  record.request = json.at("request").as_object();
  record.id = base::string_or(json, "id");
  record.queue = base::string_or(json, "queue");
  record.status = base::string_or(json, "status");
  record.reason = base::string_or(json, "reason");
  record.priority = static_cast<int>(base::int_or(json, "priority", 0));
  record.attempt = static_cast<int>(base::int_or(json, "attempt", 0));
  record.terminated = base::bool_or(json, "terminated", false);
  record.created = read_time(json, "created").value_or(base::Timestamp{});
  record.scheduled = read_time(json, "scheduled");
  record.started = read_time(json, "started");
  record.stopped = read_time(json, "stopped");
  record.attempts = json.at("attempts").as_array();
  record.revision = document.revision;
  record.created_revision = document.created_revision;
  return record;
}

std::string training_name(const ServiceRecord& record) {
  const std::string tail = "-" + record.id.substr(0, 8) + "-" + std::to_string(record.attempt);
  std::string name = base::string_or(payload_of(record), "TrainingJobName",
                                     base::string_or(record.request, "jobName"));
  std::ranges::replace(name, '_', '-');
  return name.substr(0, 63 - tail.size()) + tail;
}

JsonObject training_request(const ServiceRecord& record) {
  JsonObject request = payload_of(record);
  request["TrainingJobName"] = training_name(record);
  JsonArray tags;
  if (const Json* given = base::find(request, "Tags")) tags = given->as_array();
  tags.push_back(JsonObject{{"Key", "meridian:batch-job"}, {"Value", record.id}});
  request["Tags"] = std::move(tags);
  return request;
}

int instances_of(const ServiceRecord& record) {
  const JsonObject payload = payload_of(record);
  const Json* resources = base::find(payload, "ResourceConfig");
  if (resources == nullptr) return 1;
  if (const Json* groups = base::find(*resources, "InstanceGroups")) {
    std::int64_t sum = 0;
    for (const Json& each : groups->as_array()) sum += base::int_or(each, "InstanceCount", 1);
    return static_cast<int>(sum);
  }
  return static_cast<int>(base::int_or(*resources, "InstanceCount", 1));
}

bool is_made_again(const ServiceRecord& record, const std::string& reason) {
  const Json* retry = base::find(record.request, "retryStrategy");
  if (retry == nullptr || record.attempt >= base::int_or(*retry, "attempts", 1)) return false;
  if (const Json* rules = base::find(*retry, "evaluateOnExit"))
    for (const Json& rule : rules->as_array())
      if (reason_matches(base::string_or(rule, "onStatusReason", "*"), reason))
        return base::equals_ignoring_case(base::string_or(rule, "action"), "RETRY");
  return true;
}

}  // namespace meridian::region::batch
