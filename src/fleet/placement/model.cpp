// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/placement/spot.h"

namespace meridian::fleet::placement {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

bool is_kept(Objective objective) {
  return objective == Objective::pinned || objective == Objective::data;
}

// With a budget every price is wanted; without one, where any other option has one.
void refuse_unpriced(std::vector<Judgement>& all, const Settings& settings) {
  const bool some_priced = std::ranges::any_of(
      all, [](const Judgement& j) { return j.refusal == Refusal::none && j.option.priced; });
  const bool wanted = settings.hard_usd || (some_priced && settings.objective != Objective::time);
  for (Judgement& j : all)
    if (wanted && j.refusal == Refusal::none && !j.option.priced) j.refusal = Refusal::no_price;
}

}  // namespace

Model::Model(const Problem& p)
    : problem(p),
      deadline(p.settings.deadline_hours.value_or(kNever)),
      budget(p.settings.hard_usd.value_or(kNever)) {
  std::vector<int> first_pool;
  for (const Region& region : p.regions) {
    first_pool.push_back(static_cast<int>(capacity_.size()));
    for (const Pool& pool : region.pools)
      capacity_.push_back(std::max(0, pool.instances - pool.reserved));
  }
  add_copies();
  serve_types(first_pool);
  add_options();
}

// Which pool and which offers serve each type, by region.
void Model::serve_types(const std::vector<int>& first_pool) {
  const Problem& p = problem;
  for (const Row& row : p.rows) {
    auto [entry, fresh] = served_.try_emplace(row.type);
    if (!fresh) continue;
    for (const Region& region : p.regions) {
      Served served;
      const auto found = std::ranges::find_if(region.pools, [&](const Pool& pool) {
        return pool.types.empty() || has(pool.types, row.type);
      });
      if (found != region.pools.end())
        served.pool =
            first_pool[entry->second.size()] + static_cast<int>(found - region.pools.begin());
      bool on_demand = false;
      for (std::size_t i = 0; i < region.offers.size(); ++i) {
        if (region.offers[i].type != row.type) continue;
        on_demand = on_demand || region.offers[i].market == Market::on_demand;
        served.offers.push_back(static_cast<int>(i));
      }
      if (!on_demand) served.offers.insert(served.offers.begin(), -1);
      entry->second.push_back(std::move(served));
    }
  }
}

void Model::add_options() {
  const Problem& p = problem;
  std::vector<long> wanted(capacity_.size());
  for (std::size_t row = 0; row < p.rows.size(); ++row) {
    gangs.push_back(p.rows[row].instances);
    std::vector<Option> mine;
    std::vector<int> pools;
    for (const Judgement& j : judge(row)) {
      if (j.refusal != Refusal::none) continue;
      mine.push_back(j.option);
      if (j.option.copy >= 0 && (pools.empty() || pools.back() != j.option.pool))
        ++copies[static_cast<std::size_t>(j.option.copy)].users;
      if (pools.empty() || pools.back() != j.option.pool) pools.push_back(j.option.pool);
    }
    for (const int pool : pools) wanted[static_cast<std::size_t>(pool)] += p.rows[row].instances;
    options.push_back(std::move(mine));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    slots.push_back(static_cast<int>(std::min<long>(capacity_[i], wanted[i])));
}

void Model::add_copies() {
  const auto& regions = problem.regions;
  for (std::size_t d = 0; d < problem.data.size(); ++d) {
    const Data& data = problem.data[d];
    data_[data.name] = static_cast<int>(d);
    std::vector<int> way(regions.size(), -2);
    for (std::size_t r = 0; r < regions.size(); ++r) {
      if (has(data.regions, regions[r].name)) {
        way[r] = -1;
        continue;
      }
      if (!data.gigabytes) continue;
      Copy best{.data = static_cast<int>(d), .region = static_cast<int>(r), .usd = kNever};
      for (std::size_t l = 0; l < problem.links.size(); ++l) {
        const Link& link = problem.links[l];
        if (link.to != regions[r].name || !has(data.regions, link.from)) continue;
        const double usd = link.usd_per_gb * *data.gigabytes;
        const double hours = *data.gigabytes * 1'000 / link.mb_per_second / 3'600;
        if (usd > best.usd || (usd == best.usd && hours >= best.hours)) continue;
        best.link = static_cast<int>(l);
        best.usd = usd;
        best.hours = hours;
      }
      if (best.usd == kNever) continue;
      way[r] = static_cast<int>(copies.size());
      copies.push_back(best);
    }
    copy_of_.push_back(std::move(way));
  }
}

int Model::find_copy(const Row& row, int region) const {
  if (row.data.empty()) return -1;
  const auto data = data_.find(row.data);
  return copy_of_[static_cast<std::size_t>(data->second)][static_cast<std::size_t>(region)];
}

bool Model::keeps_away(const Row& row, int region, Refusal& why) const {
  const std::string& name = problem.regions[static_cast<std::size_t>(region)].name;
  const Objective objective = problem.settings.objective;
  const bool kept =
      (!row.fixed.empty() && row.fixed != name) ||
      (objective == Objective::pinned && row.fixed.empty()) ||
      (objective == Objective::data && !row.data.empty() && find_copy(row, region) != -1);
  if (kept) why = Refusal::elsewhere;
  if (!kept && !row.allowed.empty() && !has(row.allowed, name)) why = Refusal::residency;
  return why != Refusal::none;
}

Judgement Model::judge(const Row& row, int region, const Served& served, int offer) const {
  static const Offer unlisted;
  const auto at = static_cast<std::size_t>(region);
  const Settings& settings = problem.settings;
  const Offer& what =
      offer < 0 ? unlisted : problem.regions[at].offers[static_cast<std::size_t>(offer)];
  const bool spot = what.market == Market::spot;
  Judgement out{.option = {.region = region, .pool = served.pool, .offer = offer}};
  Option& option = out.option;
  option.copy = std::max(-1, find_copy(row, region));
  option.hours = expected_hours(row.hours, spot ? row.instances * what.reclaims_per_hour : 0,
                                settings.checkpoints);
  option.need = option.hours;
  // Reclaimed at the very start, it must still be done in time on demand.
  if (spot && settings.spot == SpotPolicy::deadline)
    option.need = std::max(option.need, row.hours + settings.checkpoints.restart_hours);
  option.priced = what.price.has_value();
  option.instances_usd = row.hours * row.instances * what.price.value_or(0);
  option.lost_usd = (option.hours - row.hours) * row.instances * what.price.value_or(0);
  const auto refuse = [&](Refusal why) {
    out.refusal = why;
    return out;
  };
  if (Refusal why = Refusal::none; keeps_away(row, region, why)) return refuse(why);
  if (served.pool < 0) return refuse(Refusal::no_pool);
  if (capacity_[static_cast<std::size_t>(served.pool)] < row.instances)
    return refuse(Refusal::too_small);
  if (spot && settings.spot == SpotPolicy::never) return refuse(Refusal::no_spot);
  if (spot && what.reclaimed_hours_ago && *what.reclaimed_hours_ago < settings.avoid_hours)
    return refuse(Refusal::zone_avoided);
  // Pinned rows read over the network, as they always did.
  if (find_copy(row, region) == -2 && !is_kept(settings.objective) && row.fixed.empty())
    return refuse(Refusal::no_link);
  if (!std::isfinite(option.hours)) return refuse(Refusal::never_ends);
  if (is_kept(settings.objective)) option.copy = -1;
  const double copy = option.copy < 0 ? 0 : copies[static_cast<std::size_t>(option.copy)].hours;
  if (copy + option.need > deadline) return refuse(Refusal::deadline);
  if (option.usd() > budget) return refuse(Refusal::budget);
  return out;
}

std::vector<Judgement> Model::judge(std::size_t index) const {
  const Row& row = problem.rows[index];
  std::vector<Judgement> all;
  const auto& served = served_.find(row.type)->second;
  for (std::size_t r = 0; r < served.size(); ++r)
    for (const int offer : served[r].offers)
      all.push_back(judge(row, static_cast<int>(r), served[r], offer));
  refuse_unpriced(all, problem.settings);
  return all;
}

}  // namespace meridian::fleet::placement
