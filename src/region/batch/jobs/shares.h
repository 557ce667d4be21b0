// Whose turn it is among the shares of a fair-share queue. Pure.
//
// The share with the lowest decayed usage × weight goes next; a lower weight so means more. A part
// of the queue's capacity is kept free for shares that are not active: computeReservation/100 to
// the power of the active shares.
//
// Source: AWS Batch, scheduling policies (fairsharePolicy).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace meridian::region::batch {

struct FairShare {
  std::int64_t decay_seconds = 600;
  int reservation = 0;                    // percent
  std::map<std::string, double> weights;  // "red", or "red*" for all that begin so
  double weight(const std::string& share) const;
};
FairShare read_fair_share(const base::Json& policy);
// Two that may both speak of one share, or nothing.
std::string overlapping_shares(const std::vector<std::string>& identifiers);

// vCPU seconds of each share; half of them are forgotten in half the decay time.
class Usage {
 public:
  void add(const std::string& share, double vcpu_seconds);
  void decay(base::Ticks now, std::int64_t decay_seconds);
  double of(const std::string& share) const;

 private:
  std::map<std::string, double> used_;
  base::Ticks at_{};
};

// `waiting` in turn: the first should go next. `running`: vCPU seconds of what each share has now,
// so far.
std::vector<std::string> in_turn(const std::vector<std::string>& waiting, const FairShare& policy,
                                 const Usage& usage, const std::map<std::string, double>& running);
// vCPUs of `capacity` that active shares may not take.
int reserved(const FairShare& policy, std::size_t active_shares, int capacity);

}  // namespace meridian::region::batch
