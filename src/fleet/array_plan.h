// What to do next for an array's rows: decided here, done elsewhere (design D4). Pure.
//
// Promises, each with a test of that name:
//   1. A row that succeeded with the same request is not run again; one that changed, failed or was
//      stopped is, once per run.
//   2. Never more than `parallelism` rows are active, and never two attempts of one row.
//   3. After `stop_after` failures of a run nothing is started.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "fleet/array_state.h"

namespace meridian::fleet {

// At the start of a run: puts rows back to pending that are to run in it, and marks active ones
// whose request changed as stopping. Returns the rows that it changed.
std::vector<std::size_t> open_run(std::vector<RowState>& states, const std::vector<RowPlan>& plans);

struct Limits {
  std::size_t parallelism = 1;
  std::optional<int> stop_after;
  bool suspend = false, deleting = false;
  std::size_t at_once = 16;  // acts of one step
  std::int64_t now_ms = 0;
};

struct Todo {
  std::vector<std::size_t> launch;  // pending → launching
  std::vector<std::size_t> ask;     // launching, and due to ask the region (again)
  std::vector<std::size_t> stop;    // running, to be stopped
  bool more = false;                // another step has work at once
};
Todo plan(const std::vector<RowState>& states, const Limits& limits);

struct Counts {
  std::size_t pending = 0, running = 0, succeeded = 0, failed = 0, stopped = 0;
  std::size_t total() const { return pending + running + succeeded + failed + stopped; }
};
Counts count(const std::vector<RowState>& states);

// How an array stands.
enum class ArrayPhase { running, completed, failed, stopped, suspended };
ArrayPhase phase_of(const std::vector<RowState>& states, const Limits& limits);

}  // namespace meridian::fleet
