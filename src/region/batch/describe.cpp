// DescribeJobs.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/strings.h"
#include "region/batch/launch.h"
#include "region/batch/operations.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

void put_text(JsonObject& object, std::string_view member, const std::string& text) {
  if (!text.empty()) object[member] = text;
}

void put_time(JsonObject& object, std::string_view member,
              const std::optional<base::Timestamp>& time) {
  if (time) object[member] = time->ms;
}

std::string instance_arn(const Core& core) {
  return fmt::format("arn:aws:ecs:{}:{}:container-instance/meridian", core.settings.region,
                     core.settings.account);
}

std::string task_arn(const Core& core, const std::string& task) {
  return fmt::format("arn:aws:ecs:{}:{}:task/default/{}", core.settings.region,
                     core.settings.account, task);
}

JsonArray attempts_of(const Core& core, const Run& run) {
  JsonArray attempts;
  for (const Attempt& each : run.attempts) {
    JsonObject container{{"containerInstanceArn", instance_arn(core)},
                         {"networkInterfaces", JsonArray{}}};
    put_text(container, "taskArn", each.task.empty() ? "" : task_arn(core, each.task));
    put_text(container, "logStreamName", each.log_stream);
    put_text(container, "reason", each.reason);
    if (each.exit_code) container["exitCode"] = *each.exit_code;
    JsonObject attempt{{"container", std::move(container)}, {"stoppedAt", each.stopped.ms}};
    put_time(attempt, "startedAt", each.started);
    put_text(attempt, "statusReason", each.status_reason);
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

// What of `container` changes while the job runs.
void add_run(const Core& core, const Run& run, Status status, JsonObject& container) {
  const bool ended = !run.attempts.empty() && is_terminal(status);
  if (ended) {
    const Attempt& last = run.attempts.back();
    if (last.exit_code) container["exitCode"] = *last.exit_code;
    put_text(container, "reason", last.reason);
  }
  if (run.attempt == 0 || status == Status::runnable) return;
  container["containerInstanceArn"] = instance_arn(core);
  container["taskArn"] = task_arn(core, run.task);
  if (run.started || ended) container["logStreamName"] = run.log_stream;
}

JsonObject array_properties(const JobRecord& job, std::optional<std::uint32_t> index) {
  if (index) return {{"index", std::int64_t{*index}}};
  return {{"size", std::int64_t{job.size}},
          {"statusSummary", summary_counts(job.states)},
          {"statusSummaryLastUpdatedAt", job.counted.ms}};
}

void add_child(const Core& core, const JobRecord& job, std::uint32_t index, JsonObject& out) {
  const Status status = job.states.at(index);
  out["status"] = name(status);
  const auto run = find_run(core, job.id, index);
  std::string reason = run ? run->status_reason : job.skip_reason(index);
  if (status == Status::runnable) {
    const std::string why = why_runnable(core, job, index);
    reason = reason.empty() ? why : reason + "; " + why;
  }
  if (run && run->stop != Run::Stop::none && !is_terminal(status)) reason = run->stop_reason;
  put_text(out, "statusReason", reason);
  out["isCancelled"] = run ? run->cancelled || (job.cancelled && run->attempt == 0)
                           : job.cancelled && status == Status::failed;
  out["isTerminated"] = run ? run->terminated : job.terminated && status == Status::failed;
  if (status == Status::failed && !run) out["stoppedAt"] = job.counted.ms;
  if (!run) return;
  out["attempts"] = attempts_of(core, *run);
  put_time(out, "startedAt", run->started ? run->started : run->first_started);
  put_time(out, "stoppedAt", run->stopped);
  if (Json* container = out.if_contains("container"))
    add_run(core, *run, status, container->as_object());
}

JsonObject describe(Core& core, const JobRecord& job, std::optional<std::uint32_t> index) {
  const auto document = core.parts.store.find(spec_key(core.prefix, job.id));
  JsonObject out =
      document ? base::parse_stored_json(document->body, document->key).as_object() : JsonObject{};
  const std::string id = index ? job.child_id(*index) : job.id;
  out["jobId"] = id;
  out["jobArn"] = core.arn("job", id);
  out["jobName"] = job.name;
  out["jobQueue"] = core.arn("job-queue", job.queue);
  out["jobDefinition"] = job.definition;
  out["createdAt"] = job.created.ms;
  out["attempts"] = JsonArray{};
  if (!out.contains("tags")) out["tags"] = JsonObject{};
  if (!out.contains("dependsOn")) out["dependsOn"] = JsonArray{};
  put_text(out, "shareIdentifier", job.share);
  if (!job.share.empty()) out["schedulingPriority"] = job.priority;
  if (job.is_array()) out["arrayProperties"] = array_properties(job, index);
  if (!job.is_array() || index) {
    add_child(core, job, index.value_or(0), out);
    return out;
  }
  out["status"] = name(job.status());
  put_text(out, "statusReason", job.reason);
  put_time(out, "startedAt", job.started);
  put_time(out, "stoppedAt", job.stopped);
  out["isCancelled"] = job.cancelled;
  out["isTerminated"] = job.terminated;
  out.erase("timeout");  // it is each child's
  return out;
}

// "ID#2": a node of a multi-node job, which has the job's state.
JsonObject describe_node(Core& core, const JobRecord& job, std::uint32_t node) {
  JsonObject out = describe(core, job, std::nullopt);
  const std::string id = job.id + "#" + std::to_string(node);
  out["jobId"] = id;
  out["jobArn"] = core.arn("job", id);
  const JobSpec spec = read_spec(out);
  out["nodeDetails"] = JsonObject{{"nodeIndex", std::int64_t{node}},
                                  {"isMainNode", static_cast<int>(node) == spec.main_node}};
  JsonObject container;
  for (const Json& range : out.at("nodeProperties").at("nodeRangeProperties").as_array()) {
    const auto of = parse_node_range(base::string_or(range, "targetNodes"), job.nodes);
    if (of && of->from <= node && node <= of->to) container = range.at("container").as_object();
  }
  out.erase("nodeProperties");
  if (const auto run = find_run(core, job.id, 0)) {
    add_run(core, *run, job.status(), container);
    if (container.contains("logStreamName"))
      container["logStreamName"] = log_stream(spec, *run, node);
  }
  out["container"] = std::move(container);
  return out;
}

std::optional<JsonObject> describe_by_id(Core& core, std::string_view text) {
  if (text.starts_with("arn:")) text = text.substr(text.rfind('/') + 1);
  const auto hash = text.find('#');
  const auto id = parse_job_id(text.substr(0, hash));
  const auto job = id ? find_job(core, id->job) : std::nullopt;
  if (!job || (id->index && (!job->is_array() || *id->index >= job->size))) return std::nullopt;
  if (hash == std::string_view::npos) return describe(core, *job, id->index);
  const auto node = base::to_uint(text.substr(hash + 1));
  if (!node || *node >= job->nodes) return std::nullopt;
  return describe_node(core, *job, static_cast<std::uint32_t>(*node));
}

}  // namespace

std::optional<JobRecord> find_job(const Core& core, const std::string& job) {
  const auto document = core.parts.store.find(job_key(core.prefix, job));
  if (!document) return std::nullopt;
  return parse_job(*document);
}

std::optional<Run> find_run(const Core& core, const std::string& job, std::uint32_t index) {
  const auto document = core.parts.store.find(child_key(core.prefix, job, index));
  if (!document) return std::nullopt;
  return parse_run(*document);
}

JsonObject summary_counts(const States& states) {
  JsonObject counts;
  for (std::size_t status = 0; status < kStatuses; ++status)
    counts[name(static_cast<Status>(status))] =
        static_cast<std::int64_t>(states.count(static_cast<Status>(status)));
  return counts;
}

std::string why_queue_waits(const Core& core, const JobRecord& job) {
  auto waits = core.waits.lock();
  const auto wait = waits->find(job.queue);
  if (wait == waits->end()) return "";
  return fmt::format("the first of queue '{}', {}, waits: {}", job.queue, wait->second.job,
                     wait->second.reason);
}

std::string why_runnable(const Core& core, const JobRecord& job, std::uint32_t index) {
  auto waits = core.waits.lock();
  const auto wait = waits->find(job.queue);
  if (wait == waits->end()) return "";
  const std::string child = job.child_id(index);
  if (wait->second.job == child) return wait->second.reason;
  const auto& front = wait->second.front;
  const std::string arn = core.arn("job", child);
  const auto place =
      std::ranges::find_if(front, [&](const Wait::Place& each) { return each.arn == arn; });
  const std::string where =
      place == front.end()
          ? fmt::format("behind more than {} others", front.size())
          : fmt::format("number {} of queue '{}'", place - front.begin() + 1, job.queue);
  return fmt::format("{}; the first, {}, waits: {}", where, wait->second.job, wait->second.reason);
}

Json describe_jobs(Core& core, const JsonObject& input) {
  JsonArray jobs;
  const JsonArray& ids = input.at("jobs").as_array();
  if (ids.size() > 100) refuse("jobs: at most 100 ids are allowed");
  for (const Json& each : ids)
    if (auto job = describe_by_id(core, base::view(each.as_string())))
      jobs.push_back(std::move(*job));
  return JsonObject{{"jobs", std::move(jobs)}};
}

}  // namespace meridian::region::batch
