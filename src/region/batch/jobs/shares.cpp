// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/shares.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace meridian::region::batch {

double FairShare::weight(const std::string& share) const {
  if (const auto exact = weights.find(share); exact != weights.end()) return exact->second;
  for (const auto& [identifier, weight] : weights)
    if (identifier.ends_with('*') && share.starts_with(identifier.substr(0, identifier.size() - 1)))
      return weight;
  return 1.0;
}

FairShare read_fair_share(const base::Json& policy) {
  FairShare share;
  const base::Json* fair = base::find(policy, "fairsharePolicy");
  if (fair == nullptr) return share;
  share.decay_seconds = base::int_or(*fair, "shareDecaySeconds", 600);
  share.reservation = static_cast<int>(base::int_or(*fair, "computeReservation", 0));
  if (const base::Json* list = base::find(*fair, "shareDistribution"))
    for (const base::Json& each : list->as_array())
      share.weights[base::string_or(each, "shareIdentifier")] =
          base::double_or(each, "weightFactor", 1.0);
  return share;
}

std::string overlapping_shares(const std::vector<std::string>& identifiers) {
  const auto stem = [](const std::string& id) {
    return id.ends_with('*') ? id.substr(0, id.size() - 1) : id;
  };
  for (const std::string& a : identifiers)
    for (const std::string& b : identifiers) {
      if (&a == &b) continue;
      if (a == b || (a.ends_with('*') && stem(b).starts_with(stem(a)))) return a + " and " + b;
    }
  return "";
}

void Usage::add(const std::string& share, double vcpu_seconds) { used_[share] += vcpu_seconds; }

void Usage::decay(base::Ticks now, std::int64_t decay_seconds) {
  const double elapsed = static_cast<double>((now - at_).count()) / 1000;
  at_ = now;
  if (decay_seconds <= 0) {
    used_.clear();
    return;
  }
  const double factor = std::pow(0.5, elapsed / (static_cast<double>(decay_seconds) / 2));
  for (auto& [share, used] : used_) used *= factor;
}

double Usage::of(const std::string& share) const {
  const auto found = used_.find(share);
  return found == used_.end() ? 0 : found->second;
}

std::vector<std::string> in_turn(const std::vector<std::string>& waiting, const FairShare& policy,
                                 const Usage& usage, const std::map<std::string, double>& running) {
  // What runs counts as used for a second at once, so that shares alternate from the start.
  const auto burden = [&](const std::string& share) {
    const auto now = running.find(share);
    return (usage.of(share) + (now == running.end() ? 0.0 : now->second)) * policy.weight(share);
  };
  std::vector<std::string> order = waiting;
  std::ranges::stable_sort(order, {}, burden);
  return order;
}

int reserved(const FairShare& policy, std::size_t active_shares, int capacity) {
  if (policy.reservation <= 0 || active_shares == 0) return 0;
  const double ratio = std::pow(policy.reservation / 100.0, static_cast<double>(active_shares));
  return static_cast<int>(std::floor(ratio * capacity));
}

}  // namespace meridian::region::batch
