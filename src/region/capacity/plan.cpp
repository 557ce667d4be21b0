// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/plan.h"

#include <algorithm>
#include <limits>
#include <set>

namespace meridian::region::capacity {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Slots taken in one pool over [from, until).
struct Span {
  std::int64_t from = 0, until = kNever;
  int slots = 0;
};

class Timetable {
 public:
  explicit Timetable(const Demand& sizes) : sizes_(sizes) {}

  void place(const Demand& demand, std::int64_t from, std::int64_t until) {
    for (const auto& [pool, slots] : demand) spans_[pool].push_back({from, until, slots});
  }

  bool fits(const Demand& demand, std::int64_t from, std::int64_t until) const {
    return std::all_of(demand.begin(), demand.end(), [&](const auto& need) {
      auto size = sizes_.find(need.first);
      return size != sizes_.end() && need.second + peak(need.first, from, until) <= size->second;
    });
  }

  // The earliest time from `now` on at which the demand fits for `length`; kNever when there is
  // none.
  std::int64_t earliest(const Demand& demand, std::int64_t now, std::int64_t length) const {
    std::set<std::int64_t> candidates{now};
    for (const auto& [pool, slots] : demand)
      if (auto found = spans_.find(pool); found != spans_.end())
        for (const Span& span : found->second)
          if (span.until > now && span.until != kNever) candidates.insert(span.until);
    for (std::int64_t start : candidates)
      if (fits(demand, start, length == kNever ? kNever : start + length)) return start;
    return kNever;
  }

 private:
  // The most slots taken at any moment of [from, until).
  int peak(const std::string& pool, std::int64_t from, std::int64_t until) const {
    auto found = spans_.find(pool);
    if (found == spans_.end()) return 0;
    int most = 0;
    auto taken_at = [&](std::int64_t when) {
      int taken = 0;
      for (const Span& span : found->second)
        if (span.from <= when && when < span.until) taken += span.slots;
      return taken;
    };
    most = taken_at(from);
    for (const Span& span : found->second)
      if (span.from > from && span.from < until) most = std::max(most, taken_at(span.from));
    return most;
  }

  const Demand& sizes_;
  std::map<std::string, std::vector<Span>> spans_;
};

bool share_a_pool(const Demand& a, const std::set<std::string>& pools) {
  return std::any_of(a.begin(), a.end(),
                     [&](const auto& need) { return pools.contains(need.first); });
}

std::vector<std::string> owners_sharing(const Demand& demand,
                                        const std::vector<const Waiting*>& ahead) {
  std::vector<std::string> owners;
  for (const Waiting* other : ahead)
    if (std::any_of(demand.begin(), demand.end(),
                    [&](const auto& need) { return other->demand.contains(need.first); }))
      owners.push_back(other->owner);
  return owners;
}

}  // namespace

std::vector<Verdict> plan_grants(const Demand& sizes, const std::vector<Held>& held,
                                 std::vector<Waiting> waiting, base::Timestamp now) {
  std::stable_sort(waiting.begin(), waiting.end(), [](const Waiting& a, const Waiting& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.arrival < b.arrival;
  });
  Timetable table(sizes);
  for (const Held& holder : held) {
    // Past its bound it still holds: it ends at any moment, and no promise is built on that.
    bool overdue = holder.until && *holder.until <= now;
    table.place(holder.demand, now.ms, holder.until && !overdue ? holder.until->ms : kNever);
  }
  std::vector<Verdict> verdicts;
  std::vector<const Waiting*> ahead;
  std::set<std::string> closed;
  for (const Waiting& gang : waiting) {
    Verdict verdict{.owner = gang.owner};
    std::int64_t length = gang.at_most ? gang.at_most->count() : kNever;
    std::int64_t start =
        share_a_pool(gang.demand, closed) ? kNever : table.earliest(gang.demand, now.ms, length);
    if (start == kNever) {
      for (const auto& [pool, slots] : gang.demand) closed.insert(pool);
    } else {
      table.place(gang.demand, start, length == kNever ? kNever : start + length);
      verdict.expected = base::Timestamp{start};
    }
    verdict.granted = start == now.ms;
    if (!verdict.granted) {
      verdict.behind = owners_sharing(gang.demand, ahead);
      ahead.push_back(&gang);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace meridian::region::capacity
