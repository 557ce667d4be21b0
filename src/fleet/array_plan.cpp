// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_plan.h"

namespace meridian::fleet {
namespace {

bool gave_up(const Counts& counts, const Limits& limits) {
  return limits.stop_after && counts.failed >= static_cast<std::size_t>(*limits.stop_after);
}

}  // namespace

std::vector<std::size_t> open_run(std::vector<RowState>& states,
                                  const std::vector<RowPlan>& plans) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < states.size(); ++i) {
    RowState& state = states[i];
    const bool same = state.digest == plans[i].digest;
    if (state.phase == RowPhase::pending || (same && state.phase == RowPhase::succeeded)) continue;
    if (is_active(state.phase)) {
      if (same) continue;
      state.stopping = true;  // superseded: its end makes the row pending
    } else {
      state.phase = RowPhase::pending;
      state.reason.clear();
    }
    changed.push_back(i);
  }
  return changed;
}

Todo plan(const std::vector<RowState>& states, const Limits& limits) {
  const Counts counts = count(states);
  const bool start = !limits.suspend && !limits.deleting && !gave_up(counts, limits);
  Todo todo;
  std::size_t active = counts.running, acts = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const RowState& state = states[i];
    const bool end = limits.suspend || limits.deleting || state.stopping;
    const bool launches =
        state.phase == RowPhase::pending && !state.waits && start && active < limits.parallelism;
    const bool stops = state.phase == RowPhase::running && end && state.secondary != "Stopping";
    const bool asks = state.phase == RowPhase::launching && state.ask_after_ms <= limits.now_ms;
    if (!launches && !stops && !asks) continue;
    if (acts == limits.at_once) {
      todo.more = true;
      break;
    }
    ++acts;
    if (launches) {
      ++active;
      todo.launch.push_back(i);
    } else if (stops) {
      todo.stop.push_back(i);
    } else {
      todo.ask.push_back(i);
    }
  }
  return todo;
}

Counts count(const std::vector<RowState>& states) {
  Counts counts;
  for (const RowState& state : states) {
    switch (state.phase) {
      case RowPhase::pending: ++counts.pending; break;
      case RowPhase::launching:
      case RowPhase::running: ++counts.running; break;
      case RowPhase::succeeded: ++counts.succeeded; break;
      case RowPhase::failed: ++counts.failed; break;
      case RowPhase::stopped: ++counts.stopped; break;
    }
  }
  return counts;
}

ArrayPhase phase_of(const std::vector<RowState>& states, const Limits& limits) {
  const Counts counts = count(states);
  if (counts.running > 0) return ArrayPhase::running;
  if (counts.pending > 0) {
    if (gave_up(counts, limits)) return ArrayPhase::failed;
    return limits.suspend ? ArrayPhase::suspended : ArrayPhase::running;
  }
  if (counts.failed > 0) return ArrayPhase::failed;
  if (counts.stopped > 0) return limits.suspend ? ArrayPhase::suspended : ArrayPhase::stopped;
  return ArrayPhase::completed;
}

}  // namespace meridian::fleet
