// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_status.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/object.h"
#include "operators/conditions.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Status = operators::Condition::Status;

constexpr std::size_t kShownFailures = 5;

std::int64_t whole(std::size_t count) { return static_cast<std::int64_t>(count); }

std::optional<std::int64_t> milliseconds(const Json& description, std::string_view member) {
  const Json* value = base::find(description, member);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return static_cast<std::int64_t>(value->to_number<double>() * 1000);
}

RowPhase phase_from(const std::string& status) {
  if (status == "Completed") return RowPhase::succeeded;
  if (status == "Failed") return RowPhase::failed;
  if (status == "Stopped") return RowPhase::stopped;
  return RowPhase::running;
}

std::string_view word(ArrayPhase phase) {
  switch (phase) {
    case ArrayPhase::running: return "Running";
    case ArrayPhase::completed: return "Completed";
    case ArrayPhase::failed: return "Failed";
    case ArrayPhase::stopped: return "Stopped";
    case ArrayPhase::suspended: return "Suspended";
  }
  return "";
}

JsonArray first_failures(const ArrayRecord& record) {
  JsonArray failures;
  for (std::size_t i = 0; i < record.states().size() && failures.size() < kShownFailures; ++i) {
    const RowState& state = record.states()[i];
    if (state.phase != RowPhase::failed) continue;
    failures.push_back(JsonObject{{"row", whole(i + 1)},
                                  {"key", record.plans()[i].key},
                                  {"job", state.job},
                                  {"region", state.region},
                                  {"reason", state.reason.substr(0, 400)}});
  }
  return failures;
}

// What every array waits for: a region's answer, told while there is one.
std::string waiting_for(const ArrayRecord& record) {
  for (const RowState& state : record.states()) {
    if (state.phase == RowPhase::launching && !state.reason.empty())
      return fmt::format("{}: {}", state.region, state.reason);
  }
  const auto waits = std::ranges::count(record.states(), true, &RowState::waits);
  const auto first = std::ranges::find(record.states(), true, &RowState::waits);
  if (waits > 0) return fmt::format("{} rows have no place: {}", waits, first->reason);
  return "";
}

void set_conditions(JsonObject& status, ArrayPhase phase, const Counts& counts,
                    std::int64_t generation, base::Timestamp now) {
  const auto set = [&](std::string_view type, bool holds, std::string reason, std::string message) {
    operators::set_condition(
        status, {type, holds ? Status::yes : Status::no, std::move(reason), std::move(message)},
        generation, now);
  };
  const std::string text = fmt::format("{} of {} rows succeeded, {} failed", counts.succeeded,
                                       counts.total(), counts.failed);
  set("Complete", phase == ArrayPhase::completed, std::string(word(phase)), text);
  set("Failed", phase == ArrayPhase::failed, std::string(word(phase)), text);
  set("Stopped", phase == ArrayPhase::stopped || phase == ArrayPhase::suspended,
      std::string(word(phase)), text);
  set("Reconciling", phase == ArrayPhase::running, std::string(word(phase)), text);
}

}  // namespace

void take_description(RowState& state, const Json& description) {
  state.phase = phase_from(base::string_or(description, "TrainingJobStatus"));
  state.secondary = base::string_or(description, "TrainingJobStatus") == "Stopping"
                        ? "Stopping"
                        : base::string_or(description, "SecondaryStatus");
  state.reason = base::string_or(description, "FailureReason");
  state.started_ms = milliseconds(description, "CreationTime");
  state.ended_ms = milliseconds(description, "TrainingEndTime");
  if (is_over(state.phase) && !state.ended_ms)
    state.ended_ms = milliseconds(description, "LastModifiedTime");
  if (const Json* seconds = base::find(description, "BillableTimeInSeconds"))
    state.billable_seconds = seconds->to_number<std::int64_t>();
  if (const Json* usd = base::find_path(description, "Meridian.Cost.Usd"))
    state.cost_usd = usd->to_number<double>();
  if (const Json* metrics = base::find(description, "FinalMetricDataList");
      metrics != nullptr && metrics->is_array()) {
    for (const Json& metric : metrics->get_array())
      state.metrics[base::string_or(metric, "MetricName")] = base::double_or(metric, "Value", 0);
  }
}

JsonObject array_status(const Json& object, const ArrayRecord& record, const ArraySpec& spec,
                        base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  const Counts counts = count(record.states());
  const ArrayPhase phase = phase_of(
      record.states(),
      {.parallelism = spec.parallelism, .stop_after = spec.stop_after, .suspend = spec.suspend});
  status["phase"] = word(phase);
  status["run"] = record.run();
  status["observedGeneration"] = kube::generation_of(object);
  status["rows"] = whole(counts.total());
  status["pending"] = whole(counts.pending);
  status["running"] = whole(counts.running);
  status["succeeded"] = whole(counts.succeeded);
  status["failed"] = whole(counts.failed);
  status["stopped"] = whole(counts.stopped);
  status["firstFailures"] = first_failures(record);
  double cost = 0;
  for (const RowState& state : record.states()) cost += state.cost_usd.value_or(0);
  status["cost"] = fmt::format("{:.4f} USD", cost);
  const std::string wait = waiting_for(record);
  if (wait.empty()) {
    status.erase("waitingFor");
  } else {
    status["waitingFor"] = wait.substr(0, 400);
  }
  if (!status.contains("startTime")) status["startTime"] = kube::time_text(now);
  if (phase == ArrayPhase::running || phase == ArrayPhase::suspended) {
    status.erase("completionTime");
  } else if (!status.contains("completionTime")) {
    status["completionTime"] = kube::time_text(now);
  }
  set_conditions(status, phase, counts, kube::generation_of(object), now);
  return status;
}

JsonObject failed_status(const Json& object, const base::Error& error, const std::string& run,
                         base::Timestamp now) {
  JsonObject status = kube::status_of(object);
  status["phase"] = "Failed";
  status["run"] = run;
  status["observedGeneration"] = kube::generation_of(object);
  const std::int64_t generation = kube::generation_of(object);
  operators::set_condition(status, {"Failed", Status::yes, "InvalidArray", error.message()},
                           generation, now);
  for (const std::string_view other : {"Complete", "Stopped", "Reconciling"})
    operators::set_condition(status, {other, Status::no, "InvalidArray", error.message()},
                             generation, now);
  return status;
}

std::vector<ResultLine> result_lines(const Json& object, const ArrayRecord& record,
                                     const std::vector<std::size_t>& rows) {
  std::vector<ResultLine> lines;
  for (const std::size_t row : rows) {
    const RowState& state = record.states()[row];
    lines.push_back({.ns = kube::namespace_of(object),
                     .array = kube::name_of(object),
                     .key = record.plans()[row].key,
                     .row = static_cast<std::int64_t>(row),
                     .state = std::string(name(state.phase)),
                     .region = record.plans()[row].region,
                     .job = state.job,
                     .reason = state.reason,
                     .attempt = state.attempt,
                     .started_ms = state.started_ms,
                     .ended_ms = state.ended_ms,
                     .billable_seconds = state.billable_seconds,
                     .cost_usd = state.cost_usd,
                     .metrics = base::to_text(state.metrics),
                     .columns = base::to_text(record.rows().row(row))});
  }
  return lines;
}

}  // namespace meridian::fleet
