// An array's rows, the catalog and the pools of the regions, as a problem of placement; and its
// answer as jobs and as what people read.
//
//   Problem:  type, gang, time limit of each row from its request; data from catalog.datasets (the
//             data set whose URI is that of a channel, or lies above it), else the row's column
//             `region`; prices, capacities and reclaim rates from catalog.offers; links from
//             catalog.links. What is not known stays unknown: no price, no copy, no region.
//   Hours of a row: spec.work.seconds; else images × epochs of spec.work over the images per second
//             that earlier rows of the array reached (the mean of those that succeeded) or that
//             spec.stepModel predicts; else the mean time of earlier rows; else the time limit.
//
// Pure but for read_grounds(). Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fleet/array_state.h"
#include "fleet/placement/plan.h"
#include "fleet/table.h"

namespace meridian::fleet {

// The pools of the regions that this installation knows itself; others come from the offers.
using RegionPools = std::map<std::string, std::vector<placement::Pool>>;

// What was looked up for a plan.
struct Grounds {
  RegionPools pools;
  Table offers, links, datasets;  // of the catalog
  Table history;                  // one row: images_per_second, seconds; of the array's past rows
  base::Timestamp now;
  double spent_usd = 0;  // of the budget, by rows that are not planned again
};
// Blocking, as query(). `name` is the array's, for its history.
Grounds read_grounds(const std::filesystem::path& catalog, RegionPools pools, const std::string& ns,
                     const std::string& name, base::Timestamp now);

// Error(invalid_argument): a row's spec.work that is no number.
placement::Problem make_problem(const ArraySpec& spec, const std::vector<RowPlan>& plans,
                                const Table& rows, const Grounds& grounds);

// Gives rows their regions, and asks for managed spot where the plan takes it. Rows that wait keep
// what they have, and the reason in RowPlan::waits_for.
void apply_plan(const placement::Plan& plan, std::vector<RowPlan>& plans);

// What the controller does at the start of a run and while rows wait: pending rows are planned and
// get their regions, the others keep theirs. The others' costs are taken off the budget: as the
// region said, else what they would cost on demand where they are.
void place_pending(const ArraySpec& spec, const Table& rows, const std::vector<RowState>& states,
                   Grounds grounds, std::vector<RowPlan>& plans);

// The answer of `arrays-plan`; times are seconds from now. `why`: the keys of the rows whose
// candidates are told. Error(not_found): no such key.
base::JsonObject describe_plan(const placement::Problem& problem, const placement::Plan& plan,
                               const std::vector<std::string>& why);

}  // namespace meridian::fleet
