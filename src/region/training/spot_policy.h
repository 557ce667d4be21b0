// When managed spot instances are taken back without being asked by a person: what the
// configuration says of a pool. Pure.
//
// A reclaim by a policy is like any other: SIGTERM to the whole gang, the grace, SIGKILL; then the
// job waits for instances again, with its checkpoints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace meridian::region::training {

// How many spot instances there are, tick by tick, from the job's creation on and over and over.
struct SpotTrace {
  base::Duration tick{0};
  std::vector<int> available;

  bool empty() const { return available.empty(); }
  int available_at(base::Duration since_creation) const;
  // The time until another number may hold.
  base::Duration until_next_tick(base::Duration since_creation) const;
};

// {"metadata": {"gap_seconds": 60}, "data": [4, 4, 0, …]}, the form of public availability traces.
base::Result<SpotTrace> parse_spot_trace(std::string_view json);

// Its parts may be combined; each alone may reclaim.
struct SpotPolicy {
  double reclaims_per_hour = 0;               // of a gang that runs, at random (exponential)
  std::vector<base::Duration> reclaim_after;  // the k-th attempt runs so long; later ones for good
  SpotTrace trace;                            // fewer than the gang needs: it is interrupted, waits
  std::optional<int> at_most;                 // reclaims of one job by the first two

  // For how long the job's gang may run now; nothing = until its end. The same for the same job
  // and number of reclaims so far, also after a restart.
  std::optional<base::Duration> next_reclaim(const std::string& job_uid, int reclaims) const;
};

}  // namespace meridian::region::training
