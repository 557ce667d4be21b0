// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "region/training/operations.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonArray transitions_of(const JobRecord& record, Core& core) {
  JsonArray transitions;
  for (const Transition& each : record.transitions) {
    JsonObject entry{{"Status", each.status},
                     {"StartTime", each.start.seconds()},
                     {"StatusMessage", each.message}};
    if (each.end) entry["EndTime"] = each.end->seconds();
    transitions.push_back(entry);
  }
  if (record.phase == Phase::leasing && record.secondary == "Pending" && !transitions.empty()) {
    // What holds the instances changes without this job's record changing.
    auto lease = core.parts.capacity.find(Core::lease_owner(record.name));
    if (lease && lease->state == capacity::Lease::State::waiting)
      transitions.back().as_object()["StatusMessage"] = "Waiting for capacity: " + lease->reason;
  }
  return transitions;
}

std::int64_t whole_seconds(std::int64_t ms) { return std::max<std::int64_t>(1, (ms + 500) / 1000); }

void add_times(const JobRecord& record, Core& core, JsonObject& answer) {
  answer["CreationTime"] = record.created.seconds();
  answer["LastModifiedTime"] = record.modified.seconds();
  if (record.ended) answer["TrainingEndTime"] = record.ended->seconds();
  if (!record.started) return;
  Timings timings = live_timings(record, core);
  answer["TrainingStartTime"] = record.started->seconds();
  answer["TrainingTimeInSeconds"] = whole_seconds(timings.training_ms);
  answer["BillableTimeInSeconds"] = whole_seconds(timings.billable_ms);
}

JsonArray instances_of(const JobRecord& record, const JobSpec& spec, Core& core) {
  constexpr std::string_view kPhases[] = {"unknown", "starting", "running", "ended"};
  if (record.phase != Phase::running && record.phase != Phase::ending) return record.exits;
  JsonArray instances;
  for (const HostSlot& slot : spec.hosts()) {
    auto status = core.parts.engine.observe(core.instance_id(record, slot.host));
    JsonObject entry{{"Host", slot.host}, {"Phase", kPhases[static_cast<int>(status.phase)]}};
    if (status.started) entry["StartTime"] = status.started->seconds();
    if (status.exit) entry["ExitCode"] = status.exit->code;
    instances.push_back(entry);
  }
  return instances;
}

JsonObject staging_of(const JobRecord& record, Core& core) {
  auto all = core.staging.lock();
  auto found = all->find(record.name);
  if (found == all->end() || record.phase != Phase::staging) return {};
  const s3::Progress& p = found->second;
  return {{"FilesDone", p.files_done},
          {"FilesTotal", p.files_total},
          {"BytesDone", p.bytes_done},
          {"BytesTotal", p.bytes_total}};
}

// AWS answers these members though the request left them out, and clients index them unasked.
void add_default(JsonObject& answer, const char* object, const char* member, Json value) {
  if (!answer.contains(object)) answer[object] = JsonObject{};
  Json& holder = answer[object];
  if (holder.is_object() && !base::find(holder, member))
    holder.as_object()[member] = std::move(value);
}

// Clients look for the state of the rules that they gave: nobody evaluates them here.
void add_rule_states(const JobRecord& record, const char* rules, const char* states,
                     JsonObject& answer) {
  const Json* given = base::find(record.request, rules);
  if (!given || !given->is_array() || given->as_array().empty()) return;
  JsonArray all;
  for (const Json& rule : given->as_array())
    all.push_back(
        JsonObject{{"RuleConfigurationName", base::string_or(rule, "RuleConfigurationName")},
                   {"RuleEvaluationStatus", "Stopped"},
                   {"StatusDetails", "Rules are not evaluated here"},
                   {"LastModifiedTime", record.created.seconds()}});
  answer[states] = std::move(all);
}

// What AWS has no member for; its clients drop it, ours show it.
JsonObject own_facts(const JobRecord& record, Core& core) {
  JsonArray warnings, streams;
  for (const auto& warning : record.warnings) warnings.push_back(Json(warning));
  for (const auto& stream : record.streams) streams.push_back(Json(stream));
  const JobSpec spec = read_spec(record.request);
  Cost cost = cost_of(record, spec, core);
  JsonObject cost_json{{"Text", cost.text}};
  if (cost.usd) cost_json["Usd"] = *cost.usd;
  return {{"Program", record.program},
          {"Warnings", warnings},
          {"Attempt", record.attempt},
          {"Reclaims", record.reclaims},
          {"Retries", record.retries},
          {"LogStreams", streams},
          {"Sync", record.sync},
          {"Instances", instances_of(record, spec, core)},
          {"Staging", staging_of(record, core)},
          {"Cost", cost_json}};
}

}  // namespace

JsonObject description_of(const JobRecord& record, Core& core) {
  JsonObject answer = record.request;
  answer["TrainingJobName"] = record.name;
  answer["TrainingJobArn"] = record.arn;
  answer["ModelArtifacts"] = JsonObject{{"S3ModelArtifacts", record.model_uri}};
  answer["TrainingJobStatus"] = record.status;
  answer["SecondaryStatus"] = record.secondary;
  if (!record.failure_reason.empty()) answer["FailureReason"] = record.failure_reason;
  for (const char* flag : {"EnableNetworkIsolation", "EnableInterContainerTrafficEncryption",
                           "EnableManagedSpotTraining"})
    if (!answer.contains(flag)) answer[flag] = false;
  add_default(answer, "OutputDataConfig", "KmsKeyId", "");
  add_default(answer, "StoppingCondition", "MaxRuntimeInSeconds", 86'400);
  if (!answer.contains("ProfilingStatus")) {
    bool profiles = answer.contains("ProfilerConfig") &&
                    !base::bool_or(answer["ProfilerConfig"], "DisableProfiler", false);
    answer["ProfilingStatus"] = profiles ? "Enabled" : "Disabled";
  }
  add_rule_states(record, "DebugRuleConfigurations", "DebugRuleEvaluationStatuses", answer);
  add_rule_states(record, "ProfilerRuleConfigurations", "ProfilerRuleEvaluationStatuses", answer);
  answer["SecondaryStatusTransitions"] = transitions_of(record, core);
  if (!record.final_metrics.empty()) answer["FinalMetricDataList"] = record.final_metrics;
  if (!record.warm_pool.empty()) answer["WarmPoolStatus"] = record.warm_pool;
  add_times(record, core, answer);
  answer["Meridian"] = own_facts(record, core);
  return answer;
}

Json describe_training_job(Core& core, const JsonObject& input) {
  return description_of(get_job(core, input), core);
}

}  // namespace meridian::region::training
