// SPDX-License-Identifier: Apache-2.0
#include "region/training/plan.h"

#include <algorithm>

namespace meridian::region::training {
namespace {

using Act = Decision::Act;
using WorkPhase = control::ActivityStatus::Phase;
using InstancePhase = run::InstanceStatus::Phase;

// A limit that is reached whatever the phase, once the job waits for instances.
Cause reached_waiting_limit(const Observed& o) {
  if (o.bounds.max_wait_ms && o.timings.total_ms >= *o.bounds.max_wait_ms) return Cause::max_wait;
  if (o.bounds.max_pending_ms && o.timings.pending_ms >= *o.bounds.max_pending_ms)
    return Cause::max_pending;
  return Cause::none;
}

bool is_reclaimed(const Observed& o) {
  if (o.reclaim_requested || o.spot_gone) return true;
  return o.bounds.reclaim_after_ms && o.timings.attempt_ms >= *o.bounds.reclaim_after_ms;
}

Decision after_lost(const Observed& o) {
  if (o.retries < o.bounds.retries) return {Act::restart, Cause::lost};
  return {Act::finish, Cause::lost};
}

Decision decide_leasing(const Observed& o) {
  if (o.stop_requested) return {Act::finish, Cause::user_stop};
  if (Cause limit = reached_waiting_limit(o); limit != Cause::none) return {Act::finish, limit};
  if (o.work && o.work->phase == WorkPhase::failed) return {Act::finish, o.work->blame};
  return {o.leased ? Act::begin : Act::wait};
}

Decision decide_staging(const Observed& o) {
  if (!o.work)
    return {o.stop_requested ? Act::finish : Act::do_work,
            o.stop_requested ? Cause::user_stop : Cause::none};
  if (o.work->phase == WorkPhase::running) return {o.stop_requested ? Act::drop_work : Act::wait};
  if (o.stop_requested) return {Act::finish, Cause::user_stop};
  if (o.work->phase == WorkPhase::failed)
    return o.work->blame == Cause::client ? Decision{Act::finish, Cause::client} : after_lost(o);
  return {Act::launch};
}

// The instance whose end decides: a lost one before a failed one only when it ended earlier.
std::optional<std::size_t> first_bad_end(const std::vector<run::InstanceStatus>& instances) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto& exit = instances[i].exit;
    if (!exit || (exit->kind == run::ExitStatus::Kind::exited && exit->code == 0)) continue;
    if (!first || exit->at < instances[*first].exit->at) first = i;
  }
  return first;
}

Cause blame_for(const run::ExitStatus& exit) {
  switch (exit.kind) {
    // What could not be set up is not the program's doing: what a request can get wrong was looked
    // at before.
    case run::ExitStatus::Kind::lost:
    case run::ExitStatus::Kind::not_started: return Cause::lost;
    default: return Cause::failed;
  }
}

bool all_ended(const Observed& o) {
  return std::all_of(o.instances.begin(), o.instances.end(),
                     [](const auto& each) { return each.phase == InstancePhase::ended; });
}

Decision decide_running(const Observed& o) {
  if (auto bad = first_bad_end(o.instances))
    return {Act::end_gang, blame_for(*o.instances[*bad].exit), bad};
  if (all_ended(o)) return {Act::upload, Cause::completed};
  if (o.work && o.work->phase == WorkPhase::failed) return {Act::end_gang, o.work->blame};
  if (o.stop_requested) return {Act::end_gang, Cause::user_stop};
  if (o.timings.running_ms >= o.bounds.max_runtime_ms) return {Act::end_gang, Cause::max_runtime};
  if (o.bounds.max_wait_ms && o.timings.total_ms >= *o.bounds.max_wait_ms)
    return {Act::end_gang, Cause::max_wait};
  if (is_reclaimed(o)) return {Act::end_gang, Cause::reclaim};
  bool missing = std::any_of(o.instances.begin(), o.instances.end(),
                             [](const auto& each) { return each.phase == InstancePhase::unknown; });
  return {missing ? Act::start : Act::wait};
}

Decision decide_ending(const Observed& o) {
  // An instance that was never started has nothing to end.
  bool alive = std::any_of(o.instances.begin(), o.instances.end(), [](const auto& each) {
    return each.phase == InstancePhase::starting || each.phase == InstancePhase::running;
  });
  return alive ? Decision{Act::press, o.cause} : Decision{Act::upload, o.cause};
}

Decision decide_uploading(const Observed& o) {
  if (!o.work) return {Act::do_work};
  if (o.work->phase == WorkPhase::running) return {Act::wait};
  bool failed = o.work->phase == WorkPhase::failed;
  switch (o.cause) {
    case Cause::reclaim:
      if (o.stop_requested) return {Act::finish, Cause::user_stop};
      if (Cause limit = reached_waiting_limit(o); limit != Cause::none) return {Act::finish, limit};
      return {Act::restart, Cause::reclaim};
    case Cause::lost:
      return o.stop_requested ? Decision{Act::finish, Cause::user_stop} : after_lost(o);
    case Cause::completed:
      // Results that could not be kept are no results.
      return {Act::finish, failed ? o.work->blame : Cause::completed};
    default: return {Act::finish, o.cause};
  }
}

}  // namespace

bool is_killed_at_once(Cause cause) {
  return cause == Cause::failed || cause == Cause::client || cause == Cause::lost;
}

Decision decide(const Observed& observed) {
  switch (observed.phase) {
    case Phase::leasing: return decide_leasing(observed);
    case Phase::staging: return decide_staging(observed);
    case Phase::running: return decide_running(observed);
    case Phase::ending: return decide_ending(observed);
    case Phase::uploading: return decide_uploading(observed);
    case Phase::done: return {};
  }
  return {};
}

std::optional<base::Duration> next_limit(const Observed& o) {
  std::optional<std::int64_t> soonest;
  auto limit = [&](std::optional<std::int64_t> bound, std::int64_t spent) {
    if (bound && (!soonest || *bound - spent < *soonest)) soonest = *bound - spent;
  };
  bool waiting = o.phase == Phase::leasing, running = o.phase == Phase::running;
  if (waiting || running) {
    limit(o.bounds.max_wait_ms, o.timings.total_ms);
    limit(o.spot_change_ms, 0);
  }
  if (waiting) limit(o.bounds.max_pending_ms, o.timings.pending_ms);
  if (running) limit(o.bounds.max_runtime_ms, o.timings.running_ms);
  if (running) limit(o.bounds.reclaim_after_ms, o.timings.attempt_ms);
  if (o.phase == Phase::ending) limit(o.bounds.grace_ms, o.timings.ending_ms);
  if (!soonest) return std::nullopt;
  return base::Duration(std::max<std::int64_t>(*soonest, 0));
}

}  // namespace meridian::region::training
