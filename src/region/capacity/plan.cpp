// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/plan.h"

#include <algorithm>

namespace meridian::region::capacity {
namespace {

constexpr std::int64_t kNever = Profile::kNever;

std::int64_t add(std::int64_t time, std::int64_t length) {
  return length == kNever ? kNever : time + length;
}

}  // namespace

// The step that holds at `time`.
std::size_t Profile::index_at(std::int64_t time) const {
  auto after = std::ranges::upper_bound(steps_, time, {}, &Step::at);
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

void Profile::cut(std::int64_t at) {
  const std::size_t index = index_at(at);
  if (steps_[index].at == at) return;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(index) + 1, {at, steps_[index].taken});
}

void Profile::place(std::int64_t from, std::int64_t until, int slots) {
  cut(from);
  if (until != kNever) cut(until);
  for (std::size_t i = index_at(from); i < steps_.size() && steps_[i].at < until; ++i)
    steps_[i].taken += slots;
}

std::int64_t Profile::earliest(std::int64_t start, std::int64_t length, int slots, int size) const {
  if (slots > size) return kNever;
  for (std::size_t i = index_at(start); i < steps_.size(); ++i) {
    const std::int64_t end = i + 1 == steps_.size() ? kNever : steps_[i + 1].at;
    if (steps_[i].taken + slots > size)
      start = end;
    else if (end >= add(start, length))
      return start;
    if (start == kNever) return kNever;
  }
  return kNever;
}

void Plan::hold(const Demand& demand, std::optional<base::Timestamp> until, base::Timestamp now) {
  // Past its bound it still holds: it ends at any moment, and no promise is built on that.
  const bool overdue = until && *until <= now;
  for (const auto& [pool, slots] : demand)
    rows_[pool].profile.place(now.ms, until && !overdue ? until->ms : kNever, slots);
}

// Pools push the time on until all agree.
std::int64_t Plan::earliest(const Demand& demand, std::int64_t now, std::int64_t length) {
  std::int64_t start = now;
  for (bool agreed = false; !agreed && start != kNever;) {
    agreed = true;
    for (const auto& [pool, slots] : demand) {
      const auto size = sizes_.find(pool);
      if (size == sizes_.end()) return kNever;
      const std::int64_t fits = rows_[pool].profile.earliest(start, length, slots, size->second);
      agreed = agreed && fits == start;
      start = fits;
      if (start == kNever) break;
    }
  }
  return start;
}

std::optional<base::Timestamp> Plan::place(const Demand& demand,
                                           std::optional<base::Duration> at_most,
                                           base::Timestamp now) {
  const std::int64_t length = at_most ? at_most->count() : kNever;
  const bool shut = std::ranges::any_of(demand, [&](const auto& need) {
    const Row& row = rows_[need.first];
    return row.closed || row.planned >= kPlanned;
  });
  const std::int64_t start = shut ? kNever : earliest(demand, now.ms, length);
  for (const auto& [pool, slots] : demand) {
    Row& row = rows_[pool];
    ++row.planned;
    if (start == kNever)
      row.closed = true;
    else
      row.profile.place(start, add(start, length), slots);
  }
  if (start == kNever) return std::nullopt;
  return base::Timestamp{start};
}

bool Plan::closed(const std::string& pool) const {
  const auto row = rows_.find(pool);
  return row != rows_.end() && row->second.closed;
}

std::size_t Plan::planned(const std::string& pool) const {
  const auto row = rows_.find(pool);
  return row == rows_.end() ? 0 : row->second.planned;
}

std::vector<std::string> plan_reclaim(const Demand& missing, std::vector<Reclaimable> leases) {
  std::ranges::stable_sort(leases, [](const Reclaimable& a, const Reclaimable& b) {
    return a.priority != b.priority ? a.priority < b.priority : a.since > b.since;
  });
  Demand left = missing;  // below 0: more than is needed
  const auto slots_in = [](const Reclaimable& lease, const std::string& pool) {
    const auto found = lease.demand.find(pool);
    return found == lease.demand.end() ? 0 : found->second;
  };
  std::vector<const Reclaimable*> chosen;
  for (const Reclaimable& lease : leases) {
    const bool helps = std::ranges::any_of(
        left, [&](const auto& need) { return need.second > 0 && slots_in(lease, need.first) > 0; });
    if (!helps) continue;
    chosen.push_back(&lease);
    for (auto& [pool, slots] : left) slots -= slots_in(lease, pool);
  }
  if (std::ranges::any_of(left, [](const auto& need) { return need.second > 0; })) return {};
  std::vector<std::string> owners;
  for (auto lease = chosen.rbegin(); lease != chosen.rend(); ++lease) {
    const bool in_vain = std::ranges::all_of(
        left, [&](const auto& need) { return need.second + slots_in(**lease, need.first) <= 0; });
    if (in_vain)
      for (auto& [pool, slots] : left) slots += slots_in(**lease, pool);
    else
      owners.push_back((*lease)->owner);
  }
  return owners;
}

std::vector<Verdict> plan_grants(const Demand& sizes, const std::vector<Held>& held,
                                 std::vector<Waiting> waiting, base::Timestamp now) {
  std::ranges::stable_sort(waiting, [](const Waiting& a, const Waiting& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.arrival < b.arrival;
  });
  Plan plan(sizes);
  for (const Held& holder : held) plan.hold(holder.demand, holder.until, now);
  std::vector<Verdict> verdicts;
  for (const Waiting& gang : waiting) {
    const auto expected = plan.place(gang.demand, gang.at_most, now);
    verdicts.push_back({gang.owner, expected && *expected <= now, expected});
  }
  return verdicts;
}

}  // namespace meridian::region::capacity
