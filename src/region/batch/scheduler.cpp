// SPDX-License-Identifier: Apache-2.0
#include "region/batch/scheduler.h"

#include <algorithm>

namespace meridian::region::batch {

control::Outcome Scheduler::step(const control::Key&) {
  try {
    turn();
  } catch (...) {  // what the store says is read again at the next turn
    state_.reset();
    throw;
  }
  return control::Outcome::again(pause());
}

void Scheduler::turn() {
  if (!state_) load();
  Core::Inbox inbox;
  std::swap(inbox, *core_.inbox.lock());
  if (inbox.queues) read_queues();
  for (const std::string& id : inbox.jobs) take_in(id);
  if (inbox.requests) take_requests();
  look_at_runs();
  write();
  dispatch();
  end_jobs();
}

// Until the first limit of what runs, or a look for what nobody told.
base::Duration Scheduler::pause() const {
  base::Duration pause = core_.settings.poll;
  const base::Ticks now = core_.parts.clock.ticks();
  for (const auto& [child, live] : state_->live) {
    const auto& seconds = live.job->spec.timeout_seconds;
    if (!seconds || !live.started) continue;
    const base::Duration left = *live.started + base::Duration(*seconds * 1000) - now;
    pause = std::min(pause, std::max(left, base::Duration(50)));
  }
  return pause;
}

std::string Scheduler::start_name(const std::string& child, const Run& run) const {
  return core_.settings.step_kind + ":" + child + "/" + std::to_string(run.attempt) + "/start";
}

}  // namespace meridian::region::batch
