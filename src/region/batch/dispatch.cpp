// Who goes next: queues by priority, shares by use, jobs by priority and arrival. The first of a
// queue that finds no room waits in capacity's queue, and those behind it wait here.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "region/batch/scheduler.h"

namespace meridian::region::batch {
namespace {

using base::Json;

constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kFront = 100;

// What a job leases: vCPUs, or for GPUs an instance per node of a type whose pool has them.
std::map<std::string, int> instances_for(const capacity::Capacity& capacity, const JobSpec& spec) {
  if (spec.gpus() == 0) return {{kVcpu, spec.vcpus()}};
  std::map<std::string, int> instances;
  for (const Container& node : spec.containers) {
    std::string type = "batch.gpu";  // a pool may list it
    for (const char* known : {"ml.g4dn.xlarge", "ml.p3.2xlarge", "ml.p3.8xlarge", "ml.p3.16xlarge"})
      if (const auto* pool = capacity.find_pool(known); pool && pool->gpus >= node.gpus) {
        type = known;
        break;
      }
    ++instances[type];
  }
  return instances;
}

}  // namespace

void Scheduler::dispatch() {
  std::vector<Queue*> queues;
  for (auto& [name, queue] : state_->queues) queues.push_back(&queue);
  std::ranges::stable_sort(queues, std::greater<>(), &Queue::priority);
  std::vector<Placement> placed;
  for (Queue* queue : queues) serve(*queue, placed);
  write(&placed);
  for (const Placement& each : placed) {
    if (each.job == nullptr) continue;
    const std::string child = each.job->record.child_id(each.index);
    look_at(child, state_->live.at(child));
  }
  if (placed.size() >= kMostAtOnce) core_.wake();
}

void Scheduler::serve(Queue& queue, std::vector<Placement>& placed) {
  while (placed.size() < kMostAtOnce) {
    const std::vector<std::string> shares = shares_in_turn(queue);
    if (shares.empty()) return no_wait(queue);
    Job& job = *state_->table.ready(queue.name).at(shares.front()).begin()->second;
    const auto index = static_cast<std::uint32_t>(*job.record.states.find(Status::runnable));
    const std::string reason = place(queue, job, index, placed);
    if (reason.empty()) continue;
    if (waited_too_long(queue, job, index, reason)) continue;
    return wait(queue, job, index, reason);
  }
}

std::vector<std::string> Scheduler::shares_in_turn(Queue& queue) {
  std::vector<std::string> waiting;
  for (const auto& [share, jobs] : state_->table.ready(queue.name))
    if (!jobs.empty()) waiting.push_back(share);
  const auto policy = state_->policies.find(queue.policy);
  if (waiting.size() < 2 || policy == state_->policies.end()) return waiting;
  const base::Ticks now = core_.parts.clock.ticks();
  queue.usage.decay(now, policy->second.decay_seconds);
  std::map<std::string, double> running;
  for (const auto& [child, live] : state_->live)
    if (live.job->record.queue == queue.name) {
      const double seconds = static_cast<double>((now - live.placed).count()) / 1000;
      running[live.job->record.share] += std::max(1.0, seconds) * live.job->spec.vcpus();
    }
  return in_turn(waiting, policy->second, queue.usage, running);
}

Scheduler::Room Scheduler::find_room(const Queue& queue, const Job& job) const {
  const int wanted = job.spec.vcpus();
  std::vector<std::string> full;
  bool possible = false;
  const auto policy = state_->policies.find(queue.policy);
  std::set<std::string> active;
  if (policy != state_->policies.end() && policy->second.reservation > 0) {
    for (const auto& [share, jobs] : state_->table.ready(queue.name))
      if (!jobs.empty()) active.insert(share);
    for (const auto& [child, live] : state_->live) active.insert(live.job->record.share);
  }
  for (const std::string& name : queue.environments) {
    const auto found = state_->environments.find(name);
    if (found == state_->environments.end()) continue;
    const Environment& environment = found->second;
    const int kept = policy == state_->policies.end()
                         ? 0
                         : reserved(policy->second, active.size(), environment.most);
    if (!environment.enabled) {
      full.push_back(fmt::format("compute environment '{}' is disabled", name));
      continue;
    }
    possible = possible || wanted <= environment.most;
    if (environment.used + wanted <= environment.most - kept) return {name, ""};
    full.push_back(fmt::format(
        "compute environment '{}' has {} of {} vCPUs in use{}", name, environment.used,
        environment.most, kept > 0 ? fmt::format(" and keeps {} for other shares", kept) : ""));
  }
  return {"", fmt::format(
                  "{} - requested {} vCPUs; {}",
                  possible ? "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"
                           : "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
                  wanted,
                  full.empty() ? "the queue has no compute environment" : base::join(full, "; "))};
}

std::string Scheduler::missing_consumable(const Job& job) const {
  for (const auto& [name, count] : job.spec.consumables) {
    const auto left = state_->consumables.find(name);
    const std::int64_t free = left == state_->consumables.end() ? 0 : left->second;
    if (free < count)
      return fmt::format(
          "CAPACITY:INSUFFICIENT_CONSUMABLE_RESOURCE - requested {} of '{}', free {}", count, name,
          free);
  }
  return "";
}

std::string Scheduler::place(Queue& queue, Job& job, std::uint32_t index,
                             std::vector<Placement>& placed) {
  const Room room = find_room(queue, job);
  if (!room.obstacle.empty()) return room.obstacle;
  if (std::string missing = missing_consumable(job); !missing.empty()) return missing;
  const std::string child = job.record.child_id(index);
  capacity::LeaseRequest request{.owner = core_.lease_owner(child),
                                 .instances = instances_for(core_.parts.capacity, job.spec),
                                 .priority = queue.priority};
  if (job.spec.timeout_seconds)
    request.at_most = base::Duration(*job.spec.timeout_seconds * 1000) + core_.settings.grace;
  std::optional<capacity::Capacity::Claim> claim;
  try {
    claim.emplace(core_.parts.capacity.claim(request));
  } catch (const base::Error& error) {  // the pools can never hold it; they may be made larger
    if (error.code() != base::Code::resource_exhausted || error.retryable()) throw;
    return "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - " + error.message();
  }
  const capacity::Lease lease = claim->lease();
  if (lease.state == capacity::Lease::State::waiting) {
    placed.push_back({nullptr, 0, std::move(claim)});
    return "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - " + lease.reason;
  }
  Run& run = job.run_of(index);
  ++run.attempt;
  run.environment = room.environment;
  run.placed = now();
  run.task = core_.parts.random.hex(32);
  const std::string definition = name_of(job.record.definition);
  run.log_stream =
      definition.substr(0, definition.find(':')).substr(0, 200) + "/default/" + run.task;
  run.status_reason.clear();
  if (!job.record.is_array()) job.record.reason.clear();
  state_->table.move(job, index, Status::starting, "", now());
  state_->environments[room.environment].used += job.spec.vcpus();
  for (const auto& [name, count] : job.spec.consumables) state_->consumables[name] -= count;
  Live live{.job = state_->table.find(job.record.id), .index = index, .adopted = true};
  live.placed = core_.parts.clock.ticks();
  state_->live[child] = std::move(live);
  if (queue.head == child) queue.head.clear();
  placed.push_back({&job, index, std::move(claim)});
  return "";
}

void Scheduler::wait(Queue& queue, const Job& job, std::uint32_t index, const std::string& reason) {
  const std::string child = job.record.child_id(index);
  if (queue.head != child) {
    no_wait(queue);
    queue.head = child;
    queue.since = core_.parts.clock.ticks();
    queue.since_wall = now();
  }
  (*core_.waits.lock())[queue.name] = {child, reason, queue.since_wall, front_of(queue)};
}

// Nobody of the queue waits for capacity any more.
void Scheduler::no_wait(Queue& queue) {
  if (!queue.head.empty()) {
    state_->also.push_back(core_.parts.capacity.release(core_.lease_owner(queue.head)));
    core_.wake();  // who stood behind it may get in
  }
  queue.head.clear();
  queue.since.reset();
  core_.waits.lock()->erase(queue.name);
}

bool Scheduler::waited_too_long(Queue& queue, Job& job, std::uint32_t index,
                                const std::string& reason) {
  if (queue.head != job.record.child_id(index) || !queue.since) return false;
  const base::Duration waited = core_.parts.clock.ticks() - *queue.since;
  for (const Json& limit : queue.time_limits) {
    const std::string of = base::string_or(limit, "reason");
    if (!reason.starts_with(of)) continue;
    if (waited.count() < base::int_or(limit, "maxTimeSeconds", 0) * 1000) continue;
    end_child(job, index, base::string_or(limit, "action") == "TERMINATE",
              "Job was RUNNABLE for longer than the queue allows: " + reason);
    return true;
  }
  return false;
}

std::vector<Wait::Place> Scheduler::front_of(const Queue& queue) const {
  std::vector<Wait::Place> front;
  for (const auto& [share, jobs] : state_->table.ready(queue.name))
    for (const auto& [place, job] : jobs)
      for (auto index = job->record.states.find(Status::runnable); index && front.size() < kFront;
           index = job->record.states.find(Status::runnable, *index + 1)) {
        const auto number = static_cast<std::uint32_t>(*index);
        front.push_back(
            {core_.arn("job", job->record.child_id(number)), share,
             job->record.child_id(number) == queue.head ? queue.since_wall : job->record.counted});
      }
  return front;
}

}  // namespace meridian::region::batch
