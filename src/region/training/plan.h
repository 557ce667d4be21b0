// What a training job needs next: a pure function of what is observed.
//
// The controller observes, asks decide(), does the one thing it says, and asks again until it says
// wait. Every decision is level-triggered: repeated after a restart it does no harm.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/activity.h"
#include "region/training/records.h"
#include "run/instance.h"

namespace meridian::region::training {

// What a request and the job's history allow.
struct Bounds {
  std::int64_t max_runtime_ms = 86'400'000;
  std::optional<std::int64_t> max_wait_ms, max_pending_ms;
  int retries = 0;                               // RetryStrategy.MaximumRetryAttempts
  std::optional<std::int64_t> reclaim_after_ms;  // spot policy: of running in this attempt
  std::int64_t grace_ms = 120'000;
};

// How the phase's activity stands; `blame` says whose fault a failure is.
struct WorkState {
  control::ActivityStatus::Phase phase = control::ActivityStatus::Phase::running;
  Cause blame = Cause::none;  // client, capacity or lost, when failed
};

struct Observed {
  Phase phase = Phase::leasing;
  Cause cause = Cause::none;
  bool stop_requested = false, reclaim_requested = false;
  int retries = 0;
  Timings timings;
  Bounds bounds;
  // Spot: the pool has too few instances at the moment; when that may change.
  bool spot_gone = false;
  std::optional<std::int64_t> spot_change_ms;
  bool leased = false;  // leasing
  // leasing: failed when the gang can't ever be had. staging, uploading: the phase's activity,
  // nothing = not asked yet. running: the feeding of Pipe
  // channels, nothing = there are none or it goes well.
  std::optional<WorkState> work;
  std::vector<run::InstanceStatus> instances;  // running, ending: algo-1 first
};

struct Decision {
  enum class Act {
    wait,       // nothing to do before something changes or a limit is reached
    begin,      // leasing → staging: the gang has its instances
    do_work,    // start the phase's activity, or look at it
    drop_work,  // ask the activity to stop
    launch,     // staging → running
    start,      // start the instances that are not there yet
    end_gang,   // → ending with `cause`: stop or kill, by cause
    press,      // ending: say it again to those still alive; kill them when the grace is over
    upload,     // → uploading with `cause`
    restart,    // → leasing: the next attempt (reclaim, retry)
    finish,     // → done with `cause`
  } act = Act::wait;
  Cause cause = Cause::none;
  std::optional<std::size_t> instance;  // end_gang: whose end decided
};

Decision decide(const Observed& observed);

// The time until the next limit, for when to look again; nothing when no limit is running.
std::optional<base::Duration> next_limit(const Observed& observed);

// A gang that ends for this cause is killed at once; for others it gets SIGTERM and the grace.
bool is_killed_at_once(Cause cause);

}  // namespace meridian::region::training
