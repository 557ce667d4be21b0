// SPDX-License-Identifier: Apache-2.0
#include "region/training/records.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace meridian::region::training {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::leasing: return "leasing";
    case Phase::staging: return "staging";
    case Phase::running: return "running";
    case Phase::ending: return "ending";
    case Phase::uploading: return "uploading";
    case Phase::done: return "done";
  }
  return "";
}

std::string_view name(Cause cause) {
  switch (cause) {
    case Cause::none: return "none";
    case Cause::completed: return "completed";
    case Cause::failed: return "failed";
    case Cause::client: return "client";
    case Cause::capacity: return "capacity";
    case Cause::lost: return "lost";
    case Cause::user_stop: return "user_stop";
    case Cause::max_runtime: return "max_runtime";
    case Cause::max_wait: return "max_wait";
    case Cause::max_pending: return "max_pending";
    case Cause::reclaim: return "reclaim";
  }
  return "";
}

std::optional<Phase> parse_phase(std::string_view text) {
  for (Phase phase : kPhases)
    if (name(phase) == text) return phase;
  return std::nullopt;
}

std::optional<Cause> parse_cause(std::string_view text) {
  for (Cause cause : kCauses)
    if (name(cause) == text) return cause;
  return std::nullopt;
}

bool may_follow(Phase from, Phase to) {
  switch (from) {
    case Phase::leasing: return to == Phase::staging || to == Phase::done;
    case Phase::staging: return to == Phase::running || to == Phase::leasing || to == Phase::done;
    case Phase::running: return to == Phase::ending || to == Phase::uploading;
    case Phase::ending: return to == Phase::uploading;
    case Phase::uploading: return to == Phase::leasing || to == Phase::done;
    case Phase::done: return false;
  }
  return false;
}

std::optional<Ending> ending_of(Cause cause) {
  switch (cause) {
    case Cause::completed: return Ending{"Completed", "Completed", "Training job completed"};
    case Cause::failed:
    case Cause::client:
    case Cause::capacity:
    case Cause::lost: return Ending{"Failed", "Failed", "Training job failed"};
    case Cause::user_stop: return Ending{"Stopped", "Stopped", "Training job stopped"};
    case Cause::max_runtime:
      return Ending{"Stopped", "MaxRuntimeExceeded",
                    "Training job runtime exceeded MaxRuntimeInSeconds provided"};
    case Cause::max_wait:
      return Ending{"Stopped", "MaxWaitTimeExceeded",
                    "Training job waited longer than MaxWaitTimeInSeconds provided"};
    case Cause::max_pending:
      return Ending{"Stopped", "Stopped",
                    "Training job was pending longer than MaxPendingTimeInSeconds provided"};
    case Cause::none:
    case Cause::reclaim: return std::nullopt;
  }
  return std::nullopt;
}

void move_to(JobRecord& record, Phase phase) {
  if (!may_follow(record.phase, phase)) {
    std::fprintf(stderr, "training job %s: no way from %s to %s\n", record.name.c_str(),
                 std::string(name(record.phase)).c_str(), std::string(name(phase)).c_str());
    std::abort();
  }
  record.phase = phase;
}

void enter(JobRecord& record, std::string_view secondary, std::string message, base::Timestamp at) {
  record.secondary = secondary;
  if (!record.transitions.empty()) {
    Transition& last = record.transitions.back();
    if (last.status == secondary && !last.end) {
      last.message = std::move(message);
      return;
    }
    if (!last.end) last.end = at;
  }
  record.transitions.push_back({std::string(secondary), at, std::nullopt, std::move(message)});
}

void add_warning(JobRecord& record, std::string warning) {
  auto& known = record.warnings;
  if (std::find(known.begin(), known.end(), warning) == known.end())
    known.push_back(std::move(warning));
}

void accumulate(Timings& timings, Phase phase, bool started, base::Ticks now,
                std::string_view boot_id) {
  std::int64_t elapsed = now.ms - timings.last_ticks;
  bool comparable = timings.boot_id == boot_id && elapsed >= 0;
  timings.last_ticks = now.ms;
  timings.boot_id = boot_id;
  if (!comparable || phase == Phase::done) return;
  timings.total_ms += elapsed;
  if (phase == Phase::leasing) timings.pending_ms += elapsed;
  if (started) timings.training_ms += elapsed;
  if (started && phase != Phase::leasing) timings.billable_ms += elapsed;
  if (phase == Phase::running || phase == Phase::ending) {
    timings.running_ms += elapsed;
    timings.attempt_ms += elapsed;
  }
  if (phase == Phase::ending) timings.ending_ms += elapsed;
}

Records::Records(store::Store& store, std::string account_region_prefix)
    : store_(store),
      prefix_(account_region_prefix + "/sagemaker/training-job/"),
      run_record_prefix_(account_region_prefix + "/sagemaker/run-record/") {}

std::string Records::run_record_key(std::string_view job) const {
  return run_record_prefix_ + std::string(job);
}

void Records::keep_run_record(std::string_view job, const JsonObject& run_record) {
  // A conflict means that an earlier attempt kept one.
  (void)store_.commit({store::put(run_record_key(job), base::to_text(run_record), {}, 0)});
}

JsonObject Records::find_run_record(std::string_view job) const {
  auto document = store_.find(run_record_key(job));
  if (!document) return {};
  return base::parse_stored_json(document->body, document->key).as_object();
}

std::string Records::key(std::string_view job) const { return prefix_ + std::string(job); }
std::string Records::prefix() const { return prefix_; }

std::optional<JobRecord> Records::find(std::string_view job) const {
  auto document = store_.find(key(job));
  if (!document) return std::nullopt;
  return parse_record(*document);
}

store::Write Records::write_of(const JobRecord& record) const {
  store::IndexFields index{{"name", record.name},
                           {"status", record.status},
                           {"creation", store::index_number(record.created.ms)},
                           {"modified", store::index_number(record.modified.ms)},
                           {"open", record.cleaned && !record.warm() ? "0" : "1"}};
  if (record.warm()) index["warm"] = record.warm_key;
  return store::put(key(record.name), base::to_text(to_json(record)), std::move(index),
                    record.revision);
}

bool Records::create(JobRecord& record) {
  record.revision = 0;
  return save(record);
}

bool Records::save(JobRecord& record, std::vector<store::Write> also) {
  also.push_back(write_of(record));
  auto committed = store_.commit(std::move(also));
  if (committed) record.revision = *committed;
  return committed.ok();
}

bool Records::remove(const JobRecord& record, std::vector<store::Write> also) {
  also.push_back(store::remove(key(record.name), record.revision));
  also.push_back(store::remove(run_record_key(record.name)));
  return store_.commit(std::move(also)).ok();
}

bool JobRecord::warm() const {
  return base::string_or(base::Json(warm_pool), "Status") == "Available";
}

std::vector<JobRecord> Records::warm_pools(const std::string& warm_key) const {
  std::vector<JobRecord> found;
  store::ListQuery query{.prefix = prefix_, .equals = {{"warm", warm_key}}};
  for (const auto& document : store_.list(query).documents) found.push_back(parse_record(document));
  return found;
}

std::vector<std::string> Records::unfinished() const {
  std::vector<std::string> jobs;
  store::ListQuery query{.prefix = prefix_, .equals = {{"open", "1"}}, .limit = 1000};
  for (;;) {
    store::Page page = store_.list(query);
    for (const auto& document : page.documents) jobs.push_back(document.key.substr(prefix_.size()));
    if (page.next_token.empty()) return jobs;
    query.token = page.next_token;
  }
}

void Records::throw_busy(std::string_view job) {
  throw base::Error(base::Code::conflict, "training job " + std::string(job) + " is too busy",
                    base::Retry::yes);
}

}  // namespace meridian::region::training
