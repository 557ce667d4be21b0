// SPDX-License-Identifier: Apache-2.0
#include "operators/job_status.h"

#include <fmt/format.h>

#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/remote.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Status = Condition::Status;

void set_or_erase(JsonObject& status, std::string_view field, const std::string& value) {
  if (value.empty()) {
    status.erase(field);
  } else {
    status[field] = value;
  }
}

void copy_number(JsonObject& status, std::string_view field, const Json& description,
                 std::string_view member) {
  if (const Json* value = base::find(description, member)) status[field] = *value;
}

std::string log_url(const Kind& kind, const std::string& region, const std::string& name) {
  if (kind.log_group.empty()) return "";
  return fmt::format(
      "https://{0}.console.aws.amazon.com/cloudwatch/"
      "home?region={0}#logStream:group={1};prefix={2};"
      "streamFilter=typeLogStreamPrefix",
      region, kind.log_group, name);
}

void add_rule_statuses(JsonObject& status, const Json& description) {
  const Json* rules = base::find(description, "DebugRuleEvaluationStatuses");
  if (rules == nullptr || !rules->is_array()) return;
  JsonArray shown;
  for (const Json& rule : rules->get_array()) {
    JsonObject entry;
    for (const char* member : {"RuleConfigurationName", "RuleEvaluationJobArn",
                               "RuleEvaluationStatus", "StatusDetails", "LastModifiedTime"}) {
      const Json* value = base::find(rule, member);
      if (value == nullptr) continue;
      // The original called it statusDetail.
      const std::string field =
          member == std::string_view("StatusDetails") ? "statusDetail" : lower_first(member);
      entry[field] = *value;
    }
    shown.push_back(std::move(entry));
  }
  status["debugRuleEvaluationStatuses"] = std::move(shown);
}

void add_training(JsonObject& status, const Json& description) {
  const bool stopping = base::string_or(description, "TrainingJobStatus") == "Stopping";
  status["secondaryStatus"] = stopping ? "" : base::string_or(description, "SecondaryStatus");
  set_or_erase(status, "trainingJobArn", base::string_or(description, "TrainingJobArn"));
  if (const Json* model = base::find_path(description, "ModelArtifacts.S3ModelArtifacts")) {
    status["modelPath"] = *model;
  }
  copy_number(status, "trainingTimeInSeconds", description, "TrainingTimeInSeconds");
  copy_number(status, "billableTimeInSeconds", description, "BillableTimeInSeconds");
  if (const Json* cost = base::find_path(description, "Meridian.Cost.Text")) status["cost"] = *cost;
  add_rule_statuses(status, description);
}

void add_counters(JsonObject& status, const Json& description) {
  const Json* counters = base::find(description, "TrainingJobStatusCounters");
  if (counters == nullptr) return;
  const std::int64_t retryable = base::int_or(*counters, "RetryableError", 0);
  const std::int64_t lasting = base::int_or(*counters, "NonRetryableError", 0);
  status["trainingJobStatusCounters"] =
      JsonObject{{"completed", base::int_or(*counters, "Completed", 0)},
                 {"inProgress", base::int_or(*counters, "InProgress", 0)},
                 {"retryableError", retryable},
                 {"nonRetryableError", lasting},
                 {"stopped", base::int_or(*counters, "Stopped", 0)},
                 {"totalError", retryable + lasting}};
}

std::string time_field(const Json& job, std::string_view member) {
  const Json* value = base::find(job, member);
  if (value == nullptr || !value->is_number()) return "";
  return kube::time_text(
      base::Timestamp{static_cast<std::int64_t>(value->to_number<double>() * 1000)});
}

void add_best(JsonObject& status, const Json& description) {
  const Json* best = base::find(description, "BestTrainingJob");
  if (best == nullptr) return;
  JsonObject shown;
  for (const char* member : {"TrainingJobName", "TrainingJobArn", "TrainingJobStatus",
                             "ObjectiveStatus", "FailureReason", "TuningJobName"}) {
    set_or_erase(shown, lower_first(member), base::string_or(*best, member));
  }
  for (const char* member : {"CreationTime", "TrainingStartTime", "TrainingEndTime"}) {
    set_or_erase(shown, lower_first(member), time_field(*best, member));
  }
  JsonArray tuned;
  if (const Json* values = base::find(*best, "TunedHyperParameters");
      values && values->is_object()) {
    for (const auto& [name, value] : values->get_object()) {
      tuned.push_back({{"name", name}, {"value", value}});
    }
  }
  shown["tunedHyperParameters"] = std::move(tuned);
  if (const Json* metric = base::find(*best, "FinalHyperParameterTuningJobObjectiveMetric")) {
    JsonObject final{{"metricName", base::string_or(*metric, "MetricName")},
                     {"value", base::number_text(base::double_or(*metric, "Value", 0))}};
    set_or_erase(final, "type", base::string_or(*metric, "Type"));
    shown["finalHyperParameterTuningJobObjectiveMetric"] = std::move(final);
  }
  status["bestTrainingJob"] = std::move(shown);
}

void settle_conditions(JsonObject& status, const Json& object, std::string_view word,
                       const std::string& failure, base::Timestamp now) {
  const std::int64_t generation = kube::generation_of(object);
  for (const char* type : {"Complete", "Failed", "Stopped"}) {
    if (word != type) clear_condition(status, type);
  }
  if (!is_terminal_word(word)) {
    const std::string message = fmt::format("the region says {}", word);
    set_condition(status, {"Reconciling", Status::yes, std::string(word), message}, generation,
                  now);
    return;
  }
  const std::string_view type = word == "Completed" ? "Complete" : word;
  const std::string message =
      !failure.empty() ? failure
                       : fmt::format("the job is {}", word == "Completed" ? "complete" : "stopped");
  set_condition(status, {type, Status::yes, std::string(word), message}, generation, now);
  set_condition(status, {"Reconciling", Status::no, std::string(word), message}, generation, now);
}

}  // namespace

bool is_terminal_word(std::string_view status) {
  return status == "Completed" || status == "Failed" || status == "Stopped";
}

bool is_terminal(const Kind& kind, const Json& description) {
  if (!is_terminal_word(base::string_or(description, kind.status_member))) return false;
  const Json* rules = base::find(description, "DebugRuleEvaluationStatuses");
  if (rules == nullptr || !rules->is_array()) return true;
  for (const Json& rule : rules->get_array()) {
    const std::string word = base::string_or(rule, "RuleEvaluationStatus");
    if (word == "InProgress" || word == "Stopping") return false;
  }
  return true;
}

JsonObject status_from(const Kind& kind, const Json& object, const Json& description,
                       base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  const std::string word = base::string_or(description, kind.status_member);
  const std::string name = base::string_or(description, kind.name_member);
  std::string failure = base::string_or(description, "FailureReason");
  if (failure.empty()) failure = base::string_or(description, "ExitMessage");
  status[kind.status_field] = word;
  status[kind.status_name_field] = name;
  status["region"] = place_of(object).region;
  set_or_erase(status, "additional", failure);
  set_or_erase(status, "reason",
               word == "Failed" ? base::string_or(description, "FailureCode", "JobFailed") : "");
  set_or_erase(status, "cloudWatchLogUrl", log_url(kind, place_of(object).region, name));
  if (kind.name == "TrainingJob") add_training(status, description);
  if (kind.name == "HyperparameterTuningJob") {
    add_counters(status, description);
    add_best(status, description);
  }
  status["observedGeneration"] = kube::generation_of(object);
  settle_conditions(status, object, word, failure, now);
  return status;
}

JsonObject first_status(const Kind& kind, const Json& object, base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  status[kind.status_field] = kFirstStatus;
  status["observedGeneration"] = kube::generation_of(object);
  status["lastCheckTime"] = kube::time_text(now);
  set_condition(status, {"Reconciling", Status::yes, "Accepted", "accepted, not yet in the region"},
                kube::generation_of(object), now);
  return status;
}

JsonObject retrying_status(const Kind& kind, const Json& object, std::string reason,
                           std::string message, base::Timestamp next, base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  message += fmt::format(" (next attempt at {})", kube::time_text(next));
  status[kind.status_field] = kind.reconciling;
  status["additional"] = message;
  status["reason"] = reason;
  status["observedGeneration"] = kube::generation_of(object);
  status["lastCheckTime"] = kube::time_text(now);
  set_condition(status, {"Reconciling", Status::yes, std::move(reason), std::move(message)},
                kube::generation_of(object), now);
  return status;
}

JsonObject failed_status(const Kind& kind, const Json& object, std::string reason,
                         std::string message, base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  const std::int64_t generation = kube::generation_of(object);
  const bool job = kind.nature == Nature::job;
  status[kind.status_field] = job || kind.nature == Nature::hosting ? "Failed" : "Error";
  status["additional"] = message;
  status["reason"] = reason;
  status["observedGeneration"] = generation;
  status["lastCheckTime"] = kube::time_text(now);
  if (job) {
    set_condition(status, {"Failed", Status::yes, reason, message}, generation, now);
    set_condition(status, {"Reconciling", Status::no, reason, message}, generation, now);
  } else {
    set_condition(status, {"Ready", Status::no, reason, message}, generation, now);
    set_condition(status, {"Stalled", Status::yes, reason, message}, generation, now);
    clear_condition(status, "Reconciling");
  }
  return status;
}

}  // namespace meridian::operators
