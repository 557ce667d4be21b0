// The best that any order of the rows and any choice for each gives, tried one by one, straight
// from the problem: what tests compare plans with. Shares no code with the solvers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "fleet/placement/problem.h"
#include "fleet/placement/spot.h"

namespace meridian::fleet::placement {

class BruteForce {
 public:
  struct Result {
    std::size_t waiting = 0;
    double usd = 0, end = 0;
  };

  explicit BruteForce(const Problem& problem) : p_(problem), s_(problem.settings) {
    best_.waiting = p_.rows.size() + 1;
    for (const Row& row : p_.rows) choices_.push_back(choices(row));
  }

  Result run() {
    std::vector<std::size_t> order(p_.rows.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      World world;
      visit(order, 0, world);
    } while (std::ranges::next_permutation(order).found);
    return best_;
  }

 private:
  struct Choice {
    const Region* region;
    const Pool* pool;
    const Link* link = nullptr;  // the data comes over it
    double hours = 0, need = 0, usd = 0;
    bool priced = true;
  };
  struct Run {
    const Pool* pool;
    double start, end;
    int instances;
  };
  struct World {
    std::vector<Run> runs;
    std::map<std::pair<std::string, std::string>, double> copies;  // data, region → when
    std::map<const Link*, double> link_free;
    Result so_far;
  };

  const Data* data_of(const Row& row) const {
    for (const Data& data : p_.data)
      if (data.name == row.data) return &data;
    return nullptr;
  }

  const Link* cheapest_link(const Data& data, const Region& region) const {
    const Link* best = nullptr;
    for (const Link& link : p_.links) {
      if (link.to != region.name || std::ranges::count(data.regions, link.from) == 0) continue;
      if (best == nullptr || link.usd_per_gb < best->usd_per_gb ||
          (link.usd_per_gb == best->usd_per_gb && link.mb_per_second > best->mb_per_second))
        best = &link;
    }
    return best;
  }

  std::vector<Choice> choices(const Row& row) const {
    std::vector<Choice> out;
    for (const Region& region : p_.regions) {
      if (!row.fixed.empty() && row.fixed != region.name) continue;
      if (row.fixed.empty() && s_.objective == Objective::pinned) continue;
      if (!row.allowed.empty() && std::ranges::count(row.allowed, region.name) == 0) continue;
      const Data* data = data_of(row);
      const bool there = data == nullptr || std::ranges::count(data->regions, region.name) > 0;
      if (s_.objective == Objective::data && !there) continue;
      Choice choice{.region = &region, .pool = nullptr};
      for (const Pool& pool : region.pools)
        if (std::ranges::count(pool.types, row.type) > 0 && choice.pool == nullptr)
          choice.pool = &pool;
      if (choice.pool == nullptr || choice.pool->instances - choice.pool->reserved < row.instances)
        continue;
      if (!there && s_.objective != Objective::pinned) {
        choice.link = cheapest_link(*data, region);
        if (choice.link == nullptr && row.fixed.empty()) continue;
      }
      add_offers(row, choice, out);
    }
    const bool some = std::ranges::any_of(out, [](const Choice& c) { return c.priced; });
    if (s_.hard_usd || (some && s_.objective != Objective::time))
      std::erase_if(out, [](const Choice& c) { return !c.priced; });
    return out;
  }

  void add_offers(const Row& row, Choice choice, std::vector<Choice>& out) const {
    for (const Offer& offer : choice.region->offers) {
      const bool spot = offer.market == Market::spot;
      if (offer.type != row.type || (spot && s_.spot == SpotPolicy::never)) continue;
      if (spot && offer.reclaimed_hours_ago.value_or(1e9) < s_.avoid_hours) continue;
      choice.hours = expected_hours(row.hours, spot ? row.instances * offer.reclaims_per_hour : 0,
                                    s_.checkpoints);
      choice.need = choice.hours;
      if (spot && s_.spot == SpotPolicy::deadline)
        choice.need = std::max(choice.need, row.hours + s_.checkpoints.restart_hours);
      choice.priced = offer.price.has_value();
      choice.usd = offer.price.value_or(0) * choice.hours * row.instances;
      // Alone it is past the limits: no option, so that its price does not count either.
      double copy = 0;
      if (choice.link != nullptr)
        copy = *data_of(row)->gigabytes * 1'000 / choice.link->mb_per_second / 3'600;
      if (s_.deadline_hours && copy + choice.need > *s_.deadline_hours) continue;
      if (s_.hard_usd && choice.usd > *s_.hard_usd) continue;
      out.push_back(choice);
    }
  }

  static int used_at(const World& world, const Pool* pool, double time) {
    int used = 0;
    for (const Run& run : world.runs)
      if (run.pool == pool && run.start <= time && time < run.end - 1e-12) used += run.instances;
    return used;
  }

  static bool fits(const World& world, const Choice& c, int instances, double start) {
    const int room = c.pool->instances - c.pool->reserved;
    if (used_at(world, c.pool, start) + instances > room) return false;
    for (const Run& run : world.runs)
      if (run.pool == c.pool && run.start > start && run.start < start + c.hours - 1e-12 &&
          used_at(world, c.pool, run.start) + instances > room)
        return false;
    return true;
  }

  // Puts the row in at its earliest, holes included; whether the limits allow it.
  bool put(const Row& row, const Choice& c, World& world) const {
    double ready = 0, usd = c.usd;
    if (c.link != nullptr) {
      const auto key = std::pair(row.data, c.region->name);
      if (const auto made = world.copies.find(key); made != world.copies.end()) {
        ready = made->second;
      } else {
        const Data& data = *data_of(row);
        usd += *data.gigabytes * c.link->usd_per_gb;
        ready = world.link_free[c.link] + *data.gigabytes * 1'000 / c.link->mb_per_second / 3'600;
        world.link_free[c.link] = world.copies[key] = ready;
      }
    }
    std::vector<double> starts{ready};
    for (const Run& run : world.runs)
      if (run.end > ready) starts.push_back(run.end);
    std::ranges::sort(starts);
    const double start = *std::ranges::find_if(
        starts, [&](double time) { return fits(world, c, row.instances, time); });
    world.runs.push_back({c.pool, start, start + c.hours, row.instances});
    world.so_far.usd += usd;
    world.so_far.end = std::max(world.so_far.end, start + c.hours);
    return start + c.need <= s_.deadline_hours.value_or(1e9) + 1e-9 &&
           world.so_far.usd <= s_.hard_usd.value_or(1e9) + 1e-9;
  }

  void visit(const std::vector<std::size_t>& order, std::size_t at, const World& world) {
    if (at == order.size()) {
      if (is_better(world.so_far)) best_ = world.so_far;
      return;
    }
    World waits = world;
    ++waits.so_far.waiting;
    if (waits.so_far.waiting <= best_.waiting) visit(order, at + 1, waits);
    for (const Choice& choice : choices_[order[at]]) {
      World next = world;
      if (put(p_.rows[order[at]], choice, next)) visit(order, at + 1, next);
    }
  }

  bool is_better(const Result& r) const {
    if (r.waiting != best_.waiting) return r.waiting < best_.waiting;
    const bool time = s_.objective == Objective::time;
    const double first = time ? r.end - best_.end : r.usd - best_.usd;
    const double second = time ? r.usd - best_.usd : r.end - best_.end;
    return first < -1e-9 || (first < 1e-9 && second < -1e-9);
  }

  const Problem& p_;
  const Settings& s_;
  std::vector<std::vector<Choice>> choices_;
  Result best_;
};

}  // namespace meridian::fleet::placement
