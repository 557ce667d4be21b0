// What a step looks at before it decides.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "region/training/controller.h"
#include "region/training/staging.h"

namespace meridian::region::training {

using WorkPhase = control::ActivityStatus::Phase;

namespace {
constexpr base::Duration kRoomPatience{1'800'000};
}

Observed Controller::observe(JobRecord& record, const JobSpec& spec, Memory& memory) {
  Observed observed{.phase = record.phase,
                    .cause = record.cause,
                    .stop_requested = record.stop_requested,
                    .reclaim_requested = record.reclaim_requested,
                    .retries = record.retries,
                    .timings = record.timings,
                    .bounds = spec.bounds};
  observed.bounds.grace_ms = core_.settings.grace.count();
  if (spec.spot) observe_spot(record, spec, observed);
  switch (record.phase) {
    case Phase::leasing:
      if (!record.stop_requested) observe_lease(record, spec, memory, observed);
      break;
    case Phase::staging:
    case Phase::uploading: observe_work(record, memory, observed); break;
    case Phase::running:
      if (auto feed = core_.parts.activities.find(feed_name(record));
          feed && feed->phase == WorkPhase::failed) {
        observed.work = WorkState{feed->phase, feed->error ? blame_of(*feed->error) : Cause::lost};
        memory.work_error = feed->error ? feed->error->what() : "";
      }
      [[fallthrough]];
    case Phase::ending:
      for (const HostSlot& slot : spec.hosts())
        observed.instances.push_back(observe_instance(record, slot, memory));
      break;
    case Phase::done: break;
  }
  return observed;
}

void Controller::observe_spot(const JobRecord& record, const JobSpec& spec, Observed& observed) {
  std::map<std::string, int> wanted;
  for (const auto& [type, count] : spec.instances_by_type())
    wanted[core_.pool_for(type).name] += count;
  auto sooner = [](std::optional<std::int64_t>& value, base::Duration other) {
    if (!value || other.count() < *value) value = other.count();
  };
  const base::Duration age(record.timings.total_ms);
  for (const auto& [pool, count] : wanted) {
    auto found = core_.settings.spot.find(pool);
    if (found == core_.settings.spot.end()) continue;
    const SpotPolicy& policy = found->second;
    if (auto next = policy.next_reclaim(record.uid, record.reclaims))
      sooner(observed.bounds.reclaim_after_ms, *next);
    if (policy.trace.empty()) continue;
    if (policy.trace.available_at(age) < count) observed.spot_gone = true;
    sooner(observed.spot_change_ms, policy.trace.until_next_tick(age));
  }
}

// No place in the queue while there is nothing to wait for in it: others would stand behind.
void Controller::wait_for_spot(JobRecord& record) {
  const std::string owner = Core::lease_owner(record.name);
  std::vector<store::Write> release;
  if (core_.parts.capacity.find(owner)) release.push_back(core_.parts.capacity.release(owner));
  const std::string message = "Waiting for capacity: there are too few spot instances now";
  bool told = record.secondary == "Pending" && record.transitions.back().message == message;
  if (told && release.empty()) return;
  enter(record, "Pending", message, core_.parts.clock.now());
  core_.records.save(record, std::move(release));
  core_.wake_waiting();
}

void Controller::observe_lease(JobRecord& record, const JobSpec& spec, Memory& memory,
                               Observed& observed) {
  if (observed.spot_gone) return wait_for_spot(record);
  capacity::LeaseRequest request{.owner = Core::lease_owner(record.name),
                                 .instances = spec.instances_by_type(),
                                 .at_most = base::Duration(spec.bounds.max_runtime_ms)};
  if (record.attempt == 1) take_warm(record, spec);
  try {
    memory.lease = core_.parts.capacity.request(request);
  } catch (const base::Error& error) {
    // The configuration shrank since the job was accepted: waiting would be for ever.
    if (error.code() != base::Code::resource_exhausted || error.retryable()) throw;
    memory.work_error = error.message();
    observed.work = WorkState{WorkPhase::failed, Cause::capacity};
    return;
  }
  observed.leased = memory.lease.state == capacity::Lease::State::granted;
  if (observed.leased) return;
  std::string message = "Waiting for capacity: " + memory.lease.reason;
  bool told = record.secondary == "Pending" && !record.transitions.empty() &&
              record.transitions.back().message == message;
  if (told) return;
  enter(record, "Pending", std::move(message), core_.parts.clock.now());
  core_.records.save(record);  // a lost race is told at the next look
}

void Controller::observe_work(const JobRecord& record, Memory& memory, Observed& observed) {
  auto status = core_.parts.activities.find(work_name(record));
  memory.work_error.clear();
  if (!status) return;
  observed.work = WorkState{status->phase, Cause::none};
  if (status->phase != WorkPhase::failed) return;
  if (waits_for_room(record, *status, memory, observed)) return;
  if (status->error) memory.work_error = status->error->what();
  observed.work->blame = status->error ? blame_of(*status->error) : Cause::lost;
}

// A full disk takes no result away from a program that made it, unless it stays full.
bool Controller::waits_for_room(const JobRecord& record, const control::ActivityStatus& failed,
                                Memory& memory, Observed& observed) {
  const bool full = failed.error && failed.error->retryable() &&
                    failed.error->code() == base::Code::resource_exhausted;
  if (!full || record.phase != Phase::uploading) return false;
  const base::Ticks now = core_.parts.clock.ticks();
  if (!memory.no_room_since) {
    memory.no_room_since = memory.no_room_tried = now;
    base::log_warn("results wait for room on the disk",
                   {{"job", record.name}, {"error", failed.error->what()}});
  }
  if (now - *memory.no_room_since >= kRoomPatience) return false;
  observed.work->phase = WorkPhase::running;
  if (now - memory.no_room_tried < core_.settings.heartbeat) return true;
  memory.no_room_tried = now;
  core_.parts.activities.forget(work_name(record));
  observed.work.reset();
  return true;
}

run::InstanceStatus Controller::observe_instance(const JobRecord& record, const HostSlot& slot,
                                                 Memory& memory) {
  const std::string id = core_.instance_id(record, slot.host);
  run::InstanceStatus status = core_.parts.engine.observe(id);
  if (status.phase != run::InstanceStatus::Phase::unknown || !memory.adopted.insert(id).second)
    return status;
  // Unknown to this process: perhaps an earlier one started it. What has no run.json never ran,
  // which an engine can only call lost.
  const std::filesystem::path directory = core_.instance_directory(record, slot.host);
  run::InstanceStatus adopted = core_.parts.engine.adopt(directory);
  bool lost = adopted.exit && adopted.exit->kind == run::ExitStatus::Kind::lost;
  return lost && !std::filesystem::exists(directory / "run.json") ? status : adopted;
}

}  // namespace meridian::region::training
