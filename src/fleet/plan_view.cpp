// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "fleet/array_planning.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject terms(const placement::Cost& cost) {
  return {{"Instances", cost.instances},
          {"Copy", cost.copy},
          {"LostWork", cost.lost},
          {"Total", cost.total()}};
}

JsonObject describe_row(const placement::Row& row, const placement::Placement& place) {
  JsonObject out{{"Key", row.id}, {"InstanceType", row.type}, {"InstanceCount", row.instances}};
  if (row.images_per_second) out["ImagesPerSecond"] = *row.images_per_second;
  if (place.waits) {
    out["WaitsFor"] = place.reason;
    return out;
  }
  out["Region"] = place.region;
  out["Market"] = name(place.market);
  if (!place.zone.empty()) out["Zone"] = place.zone;
  if (!place.copied_from.empty()) {
    out["CopiedFrom"] = place.copied_from;
    out["MakesCopy"] = place.copies;
    out["CopyEnd"] = place.copy_end * 3'600;
  }
  out["Start"] = place.start * 3'600;
  out["End"] = place.end * 3'600;
  out["Priced"] = place.priced;
  out["Cost"] = terms(place.cost);
  if (place.on_demand_from) out["OnDemandFrom"] = *place.on_demand_from * 3'600;
  return out;
}

JsonObject describe_candidate(const placement::Candidate& candidate) {
  JsonObject out{{"Region", candidate.region},
                 {"Market", name(candidate.market)},
                 {"Chosen", candidate.chosen},
                 {"Priced", candidate.priced},
                 {"Cost", terms(candidate.cost)}};
  if (!candidate.zone.empty()) out["Zone"] = candidate.zone;
  if (!candidate.ruled_out.empty()) out["RuledOut"] = candidate.ruled_out;
  if (!candidate.flip.empty()) out["Flip"] = candidate.flip;
  if (candidate.end > 0 && candidate.ruled_out.empty()) {
    out["Start"] = candidate.start * 3'600;
    out["End"] = candidate.end * 3'600;
  }
  return out;
}

JsonObject describe_why(const placement::Problem& problem, const placement::Plan& plan,
                        const std::string& key) {
  const auto row = std::ranges::find(problem.rows, key, &placement::Row::id);
  if (row == problem.rows.end())
    throw base::Error(base::Code::not_found,
                      "no row '" + key + "'; the keys are the first column of the plan");
  const auto index = static_cast<std::size_t>(row - problem.rows.begin());
  JsonArray candidates;
  for (const auto& candidate : explain(problem, plan, index))
    candidates.push_back(describe_candidate(candidate));
  JsonObject out = describe_row(*row, plan.rows[index]);
  out["Candidates"] = std::move(candidates);
  return out;
}

}  // namespace

JsonObject describe_plan(const placement::Problem& problem, const placement::Plan& plan,
                         const std::vector<std::string>& why) {
  JsonArray rows, reasons;
  for (std::size_t i = 0; i < problem.rows.size(); ++i)
    rows.push_back(describe_row(problem.rows[i], plan.rows[i]));
  for (const std::string& key : why) reasons.push_back(describe_why(problem, plan, key));
  return {{"Rows", std::move(rows)},
          {"Why", std::move(reasons)},
          {"Cost", terms(plan.cost)},
          {"End", plan.end * 3'600},
          {"Waiting", static_cast<std::int64_t>(plan.waiting)},
          {"Unpriced", static_cast<std::int64_t>(plan.unpriced)},
          {"Exact", plan.exact},
          {"Bound", plan.bound},
          {"Gap", plan.gap},
          {"ImagesPerSecond", plan.images_per_second},
          {"Notes", JsonArray(plan.notes.begin(), plan.notes.end())}};
}

}  // namespace meridian::fleet
