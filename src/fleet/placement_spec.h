// What a TrainingArray asks of the placement of its rows.
//
//   spec:
//     placement: cost                  # pinned (by template.region), data, cost or time
//     deadline: 48h                    # or 2026-12-24T08:00:00Z
//     budget: {soft: 80, hard: 100}    # USD
//     allowedRegions: [eu-west-1]      # residency; all if absent
//     spot: whenItPays                 # never (default), whenItPays or deadline
//     reserve: 2                       # instances of each pool kept for others
//     work: {images: $(row.images), epochs: 90}   # or {seconds: …}; else maxRuntimeInSeconds
//     stepModel: {imagesPerSecond: 2880, batch: 2048, gradientMegabytes: 102,
//                 latencySeconds: 0.00005, megabytesPerSecond: 1200}   # of one instance
//     checkpoints: {everySeconds: 900, writeSeconds: 18, restartSeconds: 360}
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/json.h"
#include "fleet/placement/problem.h"
#include "fleet/placement/throughput.h"

namespace meridian::fleet {

struct PlacementSpec {
  placement::Settings settings;  // without the deadline
  std::optional<base::Timestamp> due;
  std::optional<double> due_hours;  // from the start of a run
  std::vector<std::string> allowed_regions;
  int reserve = 0;
  base::Json work;  // with $(row.COLUMN) in it; null = none
  std::optional<placement::StepModel> step;

  // Rows go where a plan says; else each names its region itself.
  bool is_planned() const { return settings.objective != placement::Objective::pinned; }
  // There is something that a plan decides: regions, markets, or which rows wait.
  bool needs_plan() const {
    return is_planned() || settings.hard_usd || due || due_hours || !allowed_regions.empty() ||
           settings.spot != placement::SpotPolicy::never;
  }
};

// Error(invalid_argument) with the field's path.
PlacementSpec parse_placement(const base::Json& spec);

}  // namespace meridian::fleet
