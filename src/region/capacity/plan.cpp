// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/plan.h"

#include <algorithm>
#include <limits>
#include <set>

namespace meridian::region::capacity {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::int64_t add(std::int64_t time, std::int64_t length) {
  return length == kNever ? kNever : time + length;
}

// Slots taken in one pool, as a step function of time: `taken_` holds from each key on.
class Profile {
 public:
  void place(std::int64_t from, std::int64_t until, int slots) {
    cut(from);
    if (until != kNever) cut(until);
    for (auto step = taken_.find(from); step != taken_.end() && step->first < until; ++step)
      step->second += slots;
  }

  // The earliest time from `start` on that leaves `slots` of `size` free for `length`.
  std::int64_t earliest(std::int64_t start, std::int64_t length, int slots, int size) const {
    if (slots > size) return kNever;
    for (auto step = std::prev(taken_.upper_bound(start)); step != taken_.end(); ++step) {
      auto next = std::next(step);
      std::int64_t end = next == taken_.end() ? kNever : next->first;
      if (step->second + slots > size)
        start = end;
      else if (end >= add(start, length))
        return start;
      if (start == kNever) return kNever;
    }
    return kNever;
  }

 private:
  void cut(std::int64_t at) {
    auto after = taken_.upper_bound(at);
    taken_.emplace_hint(after, at, std::prev(after)->second);
  }
  std::map<std::int64_t, int> taken_{{std::numeric_limits<std::int64_t>::min(), 0}};
};

class Timetable {
 public:
  explicit Timetable(const Demand& sizes) : sizes_(sizes) {}

  void place(const Demand& demand, std::int64_t from, std::int64_t until) {
    for (const auto& [pool, slots] : demand) profiles_[pool].place(from, until, slots);
  }

  // The earliest time from `now` on at which the demand fits for `length`; kNever when there is
  // none. Pools push the time on until all agree.
  std::int64_t earliest(const Demand& demand, std::int64_t now, std::int64_t length) {
    std::int64_t start = now;
    for (bool agreed = false; !agreed && start != kNever;) {
      agreed = true;
      for (const auto& [pool, slots] : demand) {
        auto size = sizes_.find(pool);
        if (size == sizes_.end()) return kNever;
        std::int64_t fits = profiles_[pool].earliest(start, length, slots, size->second);
        agreed = agreed && fits == start;
        start = fits;
        if (start == kNever) break;
      }
    }
    return start;
  }

 private:
  const Demand& sizes_;
  std::map<std::string, Profile> profiles_;
};

bool share_a_pool(const Demand& a, const std::set<std::string>& pools) {
  return std::any_of(a.begin(), a.end(),
                     [&](const auto& need) { return pools.contains(need.first); });
}

void note_those_ahead(const Demand& demand, const std::vector<const Waiting*>& ahead,
                      Verdict& verdict) {
  constexpr std::size_t kNamed = 5;
  for (const Waiting* other : ahead) {
    if (std::none_of(demand.begin(), demand.end(),
                     [&](const auto& need) { return other->demand.contains(need.first); }))
      continue;
    if (++verdict.ahead <= kNamed) verdict.behind.push_back(other->owner);
  }
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
      table.place(gang.demand, start, add(start, length));
      verdict.expected = base::Timestamp{start};
    }
    verdict.granted = start == now.ms;
    if (!verdict.granted) {
      note_those_ahead(gang.demand, ahead, verdict);
      ahead.push_back(&gang);
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace meridian::region::capacity
