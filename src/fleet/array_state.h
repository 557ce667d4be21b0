// What is known of an array's rows, kept in the control store.
//
//   fleet/arrays/<uid>/input/<n>    the rows of the present run, 2,000 a document
//   fleet/arrays/<uid>/states/<n>   what became of them, 100 a document
//
// What is to be done in a region is committed here before it is asked there: after a crash the
// launch is found and asked again, and the region's answer says whether it was heard.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "fleet/array_spec.h"
#include "store/store.h"

namespace meridian::fleet {

enum class RowPhase {
  pending,    // not started yet
  launching,  // the name is fixed; the region is being asked
  running,    // the region has it
  succeeded,
  failed,
  stopped,
};
std::string_view name(RowPhase phase);  // "Pending", …
bool is_active(RowPhase phase);         // launching or running
bool is_over(RowPhase phase);

struct RowState {
  std::string id;      // RowPlan::id
  std::string digest;  // of the request that this attempt was made from
  RowPhase phase = RowPhase::pending;
  int attempt = 0;  // 0 = none yet; the newest
  std::string region, job, reason;
  std::optional<std::int64_t> started_ms, ended_ms, billable_seconds;
  std::optional<double> cost_usd;
  base::JsonObject metrics;       // name → the final value
  std::string secondary;          // the region's SecondaryStatus
  bool stopping = false;          // superseded: its end makes the row pending
  bool waits = false;             // not stored: the plan has no place for it (reason says why)
  std::int64_t ask_after_ms = 0;  // not stored: back-off of a launch that the region did not take
};
base::JsonObject to_json(const RowState& state);
RowState row_state_from(const base::Json& json);

// Of one array. Not thread-safe: one step at a time has it.
class ArrayRecord {
 public:
  // Loads what the store has for this array; empty when nothing.
  ArrayRecord(store::Store& store, std::string uid);

  // Which run the rows are of: "<generation>/<retry annotation>"; "" = none yet.
  const std::string& run() const { return run_; }
  const Table& rows() const { return rows_; }
  const std::vector<RowPlan>& plans() const { return plans_; }
  std::vector<RowState>& states() { return states_; }
  const std::vector<RowState>& states() const { return states_; }

  // A new run: rows that were there keep their states; those of rows that are gone are dropped.
  // Committed at once.
  void begin(std::string run, Table rows, std::vector<RowPlan> plans);
  // The plans of the loaded run (they are not stored: rows and spec give them again).
  void attach_plans(std::vector<RowPlan> plans);
  void touch(std::size_t row) { changed_.insert(row / kPerDocument); }
  void save();    // what was touched
  void remove();  // everything

 private:
  static constexpr std::size_t kPerDocument = 100;
  static constexpr std::size_t kRowsPerDocument = 2'000;
  std::string prefix(std::string_view part) const;
  void load();
  store::Write states_document(std::size_t number) const;
  std::vector<store::Write> removals(const std::string& prefix, std::size_t from) const;

  store::Store& store_;
  std::string uid_, run_;
  Table rows_;
  std::vector<RowPlan> plans_;
  std::vector<RowState> states_;
  std::set<std::size_t> changed_;  // documents of states
};

}  // namespace meridian::fleet
