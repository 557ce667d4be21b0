// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/records.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::uint32_t kMostChildren = 10'000;

void put_time(JsonObject& object, std::string_view member,
              const std::optional<base::Timestamp>& time) {
  if (time) object[member] = time->ms;
}

std::optional<base::Timestamp> read_time(const Json& object, std::string_view member) {
  const Json* value = base::find(object, member);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return base::Timestamp{value->get_int64()};
}

void put_text(JsonObject& object, std::string_view member, const std::string& text) {
  if (!text.empty()) object[member] = text;
}

JsonObject to_json(const Attempt& attempt) {
  JsonObject out{{"stopped", attempt.stopped.ms}};
  put_time(out, "started", attempt.started);
  if (attempt.exit_code) out["exit"] = *attempt.exit_code;
  put_text(out, "reason", attempt.reason);
  put_text(out, "status_reason", attempt.status_reason);
  put_text(out, "log", attempt.log_stream);
  put_text(out, "task", attempt.task);
  return out;
}

Attempt parse_attempt(const Json& json) {
  Attempt attempt;
  attempt.started = read_time(json, "started");
  attempt.stopped = read_time(json, "stopped").value_or(base::Timestamp{});
  if (base::find(json, "exit")) attempt.exit_code = static_cast<int>(base::int_or(json, "exit", 0));
  attempt.reason = base::string_or(json, "reason");
  attempt.status_reason = base::string_or(json, "status_reason");
  attempt.log_stream = base::string_or(json, "log");
  attempt.task = base::string_or(json, "task");
  return attempt;
}

JsonArray to_json(const std::vector<Skipped>& skipped) {
  JsonArray out;
  for (const Skipped& each : skipped) out.push_back(JsonArray{each.from, each.to, each.reason});
  return out;
}

std::vector<Skipped> parse_skipped(const Json* json) {
  std::vector<Skipped> out;
  if (json == nullptr) return out;
  for (const Json& each : json->as_array()) {
    const JsonArray& range = each.as_array();
    out.push_back({static_cast<std::uint32_t>(range.at(0).as_int64()),
                   static_cast<std::uint32_t>(range.at(1).as_int64()),
                   std::string(base::view(range.at(2).as_string()))});
  }
  return out;
}

}  // namespace

std::optional<JobId> parse_job_id(std::string_view text) {
  const auto colon = text.find(':');
  if (text.empty() || colon == 0) return std::nullopt;
  JobId id{.job = std::string(text.substr(0, colon)), .index = {}};
  if (colon == std::string_view::npos) return id;
  const auto index = base::to_uint(text.substr(colon + 1));
  if (!index || *index >= kMostChildren) return std::nullopt;
  id.index = static_cast<std::uint32_t>(*index);
  return id;
}

std::string JobRecord::child_id(std::uint32_t index) const {
  return is_array() ? id + ":" + std::to_string(index) : id;
}

void JobRecord::skip(std::uint32_t index, const std::string& why) {
  if (!skipped.empty() && skipped.back().to + 1 == index && skipped.back().reason == why)
    skipped.back().to = index;
  else
    skipped.push_back({index, index, why});
}

std::string JobRecord::skip_reason(std::uint32_t index) const {
  for (const Skipped& each : skipped)
    if (each.from <= index && index <= each.to) return each.reason;
  return "";
}

std::string spec_key(const std::string& prefix, const std::string& job) {
  return prefix + "spec/" + job;
}
std::string job_key(const std::string& prefix, const std::string& job) {
  return prefix + "job/" + job;
}
std::string child_key(const std::string& prefix, const std::string& job, std::uint32_t index) {
  return fmt::format("{}child/{}/{:06}", prefix, job, index);
}

store::Write write_of(const std::string& prefix, const JobRecord& job) {
  JsonObject out{{"id", job.id},
                 {"name", job.name},
                 {"arn", job.arn},
                 {"queue", job.queue},
                 {"definition", job.definition},
                 {"priority", job.priority},
                 {"created", job.created.ms},
                 {"counted", job.counted.ms},
                 {"states", job.states.text()}};
  put_text(out, "share", job.share);
  if (job.size > 0) out["size"] = job.size;
  if (job.nodes > 0) out["nodes"] = job.nodes;
  put_time(out, "started", job.started);
  put_time(out, "stopped", job.stopped);
  put_text(out, "reason", job.reason);
  if (job.cancelled) out["cancelled"] = true;
  if (job.terminated) out["terminated"] = true;
  if (!job.open) out["closed"] = true;
  if (!job.skipped.empty()) out["skipped"] = to_json(job.skipped);
  store::IndexFields index{{"queue", job.queue},
                           {"status", std::string(name(job.status()))},
                           {"created", store::index_number(job.created.ms)},
                           {"open", job.open ? "1" : "0"}};
  return store::put(job_key(prefix, job.id), base::to_text(out), std::move(index), job.revision);
}

JobRecord parse_job(const store::Document& document) {
  const Json json = base::parse_stored_json(document.body, document.key);
  JobRecord job;
  job.id = base::string_or(json, "id");
  job.name = base::string_or(json, "name");
  job.arn = base::string_or(json, "arn");
  job.queue = base::string_or(json, "queue");
  job.definition = base::string_or(json, "definition");
  job.share = base::string_or(json, "share");
  job.priority = static_cast<int>(base::int_or(json, "priority", 0));
  job.size = static_cast<std::uint32_t>(base::int_or(json, "size", 0));
  job.nodes = static_cast<std::uint32_t>(base::int_or(json, "nodes", 0));
  job.created = read_time(json, "created").value_or(base::Timestamp{});
  job.counted = read_time(json, "counted").value_or(job.created);
  job.started = read_time(json, "started");
  job.stopped = read_time(json, "stopped");
  auto states = States::parse(base::string_or(json, "states"));
  if (!states || states->size() != std::max<std::size_t>(1, job.size))
    throw base::Error(base::Code::data_loss, document.key + ": the states are not a job's");
  job.states = std::move(*states);
  job.reason = base::string_or(json, "reason");
  job.cancelled = base::bool_or(json, "cancelled", false);
  job.terminated = base::bool_or(json, "terminated", false);
  job.open = !base::bool_or(json, "closed", false);
  job.skipped = parse_skipped(base::find(json, "skipped"));
  job.revision = document.revision;
  job.created_revision = document.created_revision;
  return job;
}

store::Write write_of(const std::string& prefix, const JobRecord& job, const Run& run) {
  JsonObject out{{"index", run.index}, {"attempt", run.attempt}, {"placed", run.placed.ms}};
  put_text(out, "environment", run.environment);
  put_text(out, "log", run.log_stream);
  put_text(out, "task", run.task);
  put_time(out, "started", run.started);
  put_time(out, "first_started", run.first_started);
  put_time(out, "stopped", run.stopped);
  put_text(out, "status_reason", run.status_reason);
  put_text(out, "stop_reason", run.stop_reason);
  if (run.cancelled) out["cancelled"] = true;
  if (run.terminated) out["terminated"] = true;
  if (run.stop != Run::Stop::none)
    out["stop"] = run.stop == Run::Stop::timeout ? "timeout" : "terminate";
  JsonArray attempts;
  for (const Attempt& each : run.attempts) attempts.push_back(to_json(each));
  out["attempts"] = std::move(attempts);
  const bool live = !is_terminal(job.states.at(run.index));
  return store::put(child_key(prefix, job.id, run.index), base::to_text(out),
                    {{"live", live ? "1" : "0"}}, run.revision);
}

Run parse_run(const store::Document& document) {
  const Json json = base::parse_stored_json(document.body, document.key);
  Run run;
  run.index = static_cast<std::uint32_t>(base::int_or(json, "index", 0));
  run.attempt = static_cast<int>(base::int_or(json, "attempt", 0));
  run.environment = base::string_or(json, "environment");
  run.log_stream = base::string_or(json, "log");
  run.task = base::string_or(json, "task");
  run.placed = read_time(json, "placed").value_or(base::Timestamp{});
  run.started = read_time(json, "started");
  run.first_started = read_time(json, "first_started");
  run.stopped = read_time(json, "stopped");
  run.status_reason = base::string_or(json, "status_reason");
  run.stop_reason = base::string_or(json, "stop_reason");
  run.cancelled = base::bool_or(json, "cancelled", false);
  run.terminated = base::bool_or(json, "terminated", false);
  const std::string stop = base::string_or(json, "stop");
  if (!stop.empty()) run.stop = stop == "timeout" ? Run::Stop::timeout : Run::Stop::terminate;
  if (const Json* attempts = base::find(json, "attempts"))
    for (const Json& each : attempts->as_array()) run.attempts.push_back(parse_attempt(each));
  run.revision = document.revision;
  return run;
}

}  // namespace meridian::region::batch
