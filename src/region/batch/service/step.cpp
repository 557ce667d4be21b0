// SPDX-License-Identifier: Apache-2.0
#include "region/batch/service/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "aws/service.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr base::Duration kLook{1'000};

std::string arn_of(const Core& core, const std::string& training) {
  return fmt::format("arn:aws:sagemaker:{}:{}:training-job/{}", core.settings.region,
                     core.settings.account, training);
}

// The state that a training's own puts the job into, while it goes on.
std::string state_of(const Json& training) {
  const std::string secondary = base::string_or(training, "SecondaryStatus");
  for (const char* early : {"Starting", "Pending", "Downloading", "LaunchingMLInstances"})
    if (secondary == early) return "STARTING";
  return "RUNNING";
}

}  // namespace

Json ServiceStep::call(const std::string& operation, const JsonObject& input) const {
  return sagemaker_.operations.at(operation)({}, input);
}

std::vector<ServiceRecord> ServiceStep::open_jobs() const {
  std::vector<ServiceRecord> jobs;
  store::ListQuery query{
      .prefix = core_.prefix + "service-job/", .equals = {{"open", "1"}}, .limit = 1000};
  do {
    const store::Page page = core_.parts.store.list(query);
    for (const auto& document : page.documents) jobs.push_back(parse_service_record(document));
    query.token = page.next_token;
  } while (!query.token.empty());
  std::ranges::sort(jobs, [](const ServiceRecord& a, const ServiceRecord& b) {
    return a.priority != b.priority ? a.priority > b.priority
                                    : a.created_revision < b.created_revision;
  });
  return jobs;
}

// Of each queue: its environment, and how many instances of it are taken by all its queues' jobs.
std::map<std::string, ServiceStep::Room> ServiceStep::rooms(
    const std::vector<ServiceRecord>& jobs) const {
  std::map<std::string, Room> by_queue;
  std::map<std::string, std::int64_t> used;
  for (const JsonObject& queue : all_items(core_, kQueues)) {
    const Json* order = base::find(queue, "serviceEnvironmentOrder");
    if (order == nullptr || order->as_array().empty()) continue;
    const std::string name =
        name_of(base::string_or(order->as_array().front(), "serviceEnvironment"));
    Room& room = by_queue[base::string_or(queue, "jobQueueName")];
    room.environment = name;
    const auto environment = find_item(core_, kServiceEnvironments, name);
    room.enabled = environment && base::string_or(*environment, "state") == "ENABLED";
    if (environment)
      for (const Json& limit : environment->at("capacityLimits").as_array())
        room.most += base::int_or(limit, "maxCapacity", 0);
  }
  for (const ServiceRecord& job : jobs)
    if (job.holds()) used[by_queue[job.queue].environment] += instances_of(job);
  for (auto& [queue, room] : by_queue) room.used = used[room.environment];
  return by_queue;
}

control::Outcome ServiceStep::step(const control::Key&) {
  std::vector<ServiceRecord> jobs = open_jobs();
  if (jobs.empty()) return control::Outcome::done();
  for (ServiceRecord& job : jobs)
    if (job.holds()) follow(job);
  auto room_of = rooms(jobs);
  std::set<std::string> blocked;  // queues whose first job waits
  for (ServiceRecord& job : jobs) {
    if (job.holds() || job.ended() || blocked.contains(job.queue)) continue;
    Room& room = room_of[job.queue];
    wait_or_start(job, room);
    if (!job.holds() && !job.ended()) blocked.insert(job.queue);
    if (job.holds())
      for (auto& [queue, each] : room_of)
        if (each.environment == room.environment) each.used += instances_of(job);
  }
  return control::Outcome::again(kLook);
}

void ServiceStep::wait_or_start(ServiceRecord& job, Room& room) {
  if (job.terminated) {
    job.status = "FAILED";
    job.stopped = core_.parts.clock.now();
    save(job);
    return;
  }
  const int wanted = instances_of(job);
  std::string reason;
  if (!room.enabled)
    reason = fmt::format("service environment '{}' is disabled", room.environment);
  else if (room.used + wanted > room.most)
    reason = fmt::format(
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - requested {} instances, free {} of {} in "
        "service "
        "environment '{}'",
        wanted, std::max<std::int64_t>(0, room.most - room.used), room.most, room.environment);
  if (reason.empty()) return start(job);
  if (job.status == "RUNNABLE" && job.reason == reason) return;
  job.status = "RUNNABLE";
  job.reason = reason;
  save(job);
}

// The record first: a training that exists under the attempt's name is then this attempt's.
void ServiceStep::start(ServiceRecord& job) {
  ++job.attempt;
  job.status = "SCHEDULED";
  job.reason.clear();
  job.scheduled = core_.parts.clock.now();
  if (save(job)) follow(job);
}

void ServiceStep::follow(ServiceRecord& job) {
  const JsonObject named{{"TrainingJobName", training_name(job)}};
  Json training;
  try {
    if (job.status == "SCHEDULED") {
      try {
        call("CreateTrainingJob", training_request(job));
      } catch (const aws::ApiError& error) {
        if (error.aws_code() != "ResourceInUse") throw;
      }
    }
    training = call("DescribeTrainingJob", named);
  } catch (const base::Error& error) {  // the payload can't be run, or its training was deleted
    if (error.retryable()) throw;
    return end_attempt(job, "Received status from SageMaker:" + error.message(), false);
  }
  const std::string status = base::string_or(training, "TrainingJobStatus");
  if (status == "Completed")
    return end_attempt(job, "Received status from SageMaker:Completed", true);
  if (status == "Failed" || status == "Stopped")
    return end_attempt(
        job, "Received status from SageMaker:" + base::string_or(training, "FailureReason", status),
        false);
  const Json* timeout = base::find(job.request, "timeoutConfig");
  const std::int64_t seconds = timeout ? base::int_or(*timeout, "attemptDurationSeconds", 0) : 0;
  const bool late = seconds > 0 && job.started &&
                    core_.parts.clock.now() - *job.started >= base::Duration(seconds * 1000);
  if (late && job.reason.empty()) {
    job.reason = "Job attempt duration exceeded timeout";
    save(job);
  }
  if ((late || job.terminated) && status == "InProgress") call("StopTrainingJob", named);
  const std::string state = state_of(training);
  if (state == job.status || job.status == "RUNNING") return;
  job.status = state;
  if (state == "RUNNING" && !job.started) job.started = core_.parts.clock.now();
  save(job);
}

void ServiceStep::end_attempt(ServiceRecord& job, const std::string& reason, bool succeeded) {
  const bool stopped = job.terminated || !job.reason.empty();
  const base::Timestamp now = core_.parts.clock.now();
  const std::string told = stopped && !succeeded ? job.reason : reason;
  JsonObject attempt{
      {"serviceResourceId",
       JsonObject{{"name", "TrainingJobArn"}, {"value", arn_of(core_, training_name(job))}}},
      {"stoppedAt", now.ms},
      {"statusReason", told}};
  if (job.started) attempt["startedAt"] = job.started->ms;
  job.attempts.push_back(std::move(attempt));
  job.reason = told;
  if (succeeded) {
    job.status = "SUCCEEDED";
  } else if (!stopped && is_made_again(job, reason)) {
    job.status = "RUNNABLE";
    job.started.reset();
  } else {
    job.status = "FAILED";
  }
  if (job.ended()) job.stopped = now;
  save(job);
}

// Somebody else, a call to terminate, may have written meanwhile: that is seen at the next look.
bool ServiceStep::save(ServiceRecord& job) {
  const auto committed = core_.parts.store.commit({write_of(core_.prefix, job)});
  if (committed) job.revision = *committed;
  return committed.ok();
}

}  // namespace meridian::region::batch
