// The document's JSON. Additive only: a daemon reads what its previous release wrote.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/training/records.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonArray texts(const std::vector<std::string>& values) {
  JsonArray array;
  for (const auto& value : values) array.push_back(Json(value));
  return array;
}

std::vector<std::string> read_texts(const Json& body, std::string_view key) {
  std::vector<std::string> values;
  if (const Json* array = base::find(body, key); array && array->is_array())
    for (const Json& each : array->get_array())
      if (each.is_string()) values.emplace_back(base::view(each.get_string()));
  return values;
}

JsonObject read_object(const Json& body, std::string_view key) {
  const Json* value = base::find(body, key);
  return value && value->is_object() ? value->get_object() : JsonObject{};
}

JsonArray read_array(const Json& body, std::string_view key) {
  const Json* value = base::find(body, key);
  return value && value->is_array() ? value->get_array() : JsonArray{};
}

std::optional<base::Timestamp> read_time(const Json& body, std::string_view key) {
  const Json* value = base::find(body, key);
  if (!value || !value->is_int64()) return std::nullopt;
  return base::Timestamp{value->get_int64()};
}

JsonArray transitions_json(const std::vector<Transition>& transitions) {
  JsonArray array;
  for (const Transition& each : transitions) {
    JsonObject entry{{"status", each.status}, {"start", each.start.ms}, {"message", each.message}};
    if (each.end) entry["end"] = each.end->ms;
    array.push_back(entry);
  }
  return array;
}

std::vector<Transition> read_transitions(const Json& body) {
  std::vector<Transition> transitions;
  for (const Json& each : read_array(body, "transitions"))
    transitions.push_back({base::string_or(each, "status"),
                           read_time(each, "start").value_or(base::Timestamp{}),
                           read_time(each, "end"), base::string_or(each, "message")});
  return transitions;
}

JsonObject timings_json(const Timings& t) {
  return {{"total", t.total_ms},       {"pending", t.pending_ms}, {"training", t.training_ms},
          {"billable", t.billable_ms}, {"running", t.running_ms}, {"attempt", t.attempt_ms},
          {"ending", t.ending_ms},     {"ticks", t.last_ticks},   {"boot", t.boot_id}};
}

Timings read_timings(const Json& body) {
  Json t = read_object(body, "timings");
  return {.total_ms = base::int_or(t, "total", 0),
          .pending_ms = base::int_or(t, "pending", 0),
          .training_ms = base::int_or(t, "training", 0),
          .billable_ms = base::int_or(t, "billable", 0),
          .running_ms = base::int_or(t, "running", 0),
          .attempt_ms = base::int_or(t, "attempt", 0),
          .ending_ms = base::int_or(t, "ending", 0),
          .last_ticks = base::int_or(t, "ticks", 0),
          .boot_id = base::string_or(t, "boot")};
}

}  // namespace

base::Json to_json(const JobRecord& r) {
  JsonArray gpus;
  for (int device : r.gpus) gpus.push_back(device);
  JsonObject body{{"version", 1},
                  {"name", r.name},
                  {"uid", r.uid},
                  {"arn", r.arn},
                  {"request", r.request},
                  {"tags", r.tags},
                  {"status", r.status},
                  {"secondary", r.secondary},
                  {"transitions", transitions_json(r.transitions)},
                  {"created", r.created.ms},
                  {"modified", r.modified.ms},
                  {"phase", name(r.phase)},
                  {"cause", name(r.cause)},
                  {"attempt", r.attempt},
                  {"retries", r.retries},
                  {"reclaims", r.reclaims},
                  {"stop_requested", r.stop_requested},
                  {"reclaim_requested", r.reclaim_requested},
                  {"cleaned", r.cleaned},
                  {"failure_reason", r.failure_reason},
                  {"failed_host", r.failed_host},
                  {"failed_exit", r.failed_exit},
                  {"exits", r.exits},
                  {"warnings", texts(r.warnings)},
                  {"streams", texts(r.streams)},
                  {"gpus", gpus},
                  {"program", r.program},
                  {"sync", r.sync},
                  {"final_metrics", r.final_metrics},
                  {"warm_pool", r.warm_pool},
                  {"warm_key", r.warm_key},
                  {"model_uri", r.model_uri},
                  {"timings", timings_json(r.timings)}};
  if (r.started) body["started"] = r.started->ms;
  if (r.ended) body["ended"] = r.ended->ms;
  if (r.failed) body["failed"] = r.failed->ms;
  return body;
}

JobRecord parse_record(const store::Document& document) {
  Json body = base::parse_stored_json(document.body, document.key);
  auto phase = parse_phase(base::string_or(body, "phase"));
  auto cause = parse_cause(base::string_or(body, "cause"));
  if (!phase || !cause)
    throw base::Error(base::Code::data_loss,
                      document.key + ": unknown phase or cause (written by a newer release?)");
  JobRecord r;
  r.name = base::string_or(body, "name");
  r.uid = base::string_or(body, "uid");
  r.arn = base::string_or(body, "arn");
  r.request = read_object(body, "request");
  r.tags = read_array(body, "tags");
  r.status = base::string_or(body, "status");
  r.secondary = base::string_or(body, "secondary");
  r.transitions = read_transitions(body);
  r.created = read_time(body, "created").value_or(base::Timestamp{});
  r.modified = read_time(body, "modified").value_or(base::Timestamp{});
  r.started = read_time(body, "started");
  r.ended = read_time(body, "ended");
  r.failed = read_time(body, "failed");
  r.phase = *phase;
  r.cause = *cause;
  r.attempt = static_cast<int>(base::int_or(body, "attempt", 1));
  r.retries = static_cast<int>(base::int_or(body, "retries", 0));
  r.reclaims = static_cast<int>(base::int_or(body, "reclaims", 0));
  r.stop_requested = base::bool_or(body, "stop_requested", false);
  r.reclaim_requested = base::bool_or(body, "reclaim_requested", false);
  r.cleaned = base::bool_or(body, "cleaned", false);
  r.failure_reason = base::string_or(body, "failure_reason");
  r.failed_host = base::string_or(body, "failed_host");
  r.failed_exit = read_object(body, "failed_exit");
  r.exits = read_array(body, "exits");
  r.warnings = read_texts(body, "warnings");
  r.streams = read_texts(body, "streams");
  for (const Json& device : read_array(body, "gpus"))
    r.gpus.push_back(static_cast<int>(device.to_number<std::int64_t>()));
  r.program = read_object(body, "program");
  r.sync = read_object(body, "sync");
  r.final_metrics = read_array(body, "final_metrics");
  r.warm_pool = read_object(body, "warm_pool");
  r.warm_key = base::string_or(body, "warm_key");
  r.model_uri = base::string_or(body, "model_uri");
  r.timings = read_timings(body);
  r.revision = document.revision;
  return r;
}

}  // namespace meridian::region::training
