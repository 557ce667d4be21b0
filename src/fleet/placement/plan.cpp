// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fleet/placement/list.h"
#include "fleet/placement/refusal.h"
#include "fleet/placement/search.h"

namespace meridian::fleet::placement {
namespace {

struct Solved {
  Solution solution;
  bool exact = false;
};

Solved solve(const Model& model, Goal goal) {
  const Limits limits{.deadline = model.deadline, .budget = model.budget};
  Solved out{.solution = place_by_lists(model, goal, limits)};
  const auto rows = std::ranges::count_if(model.options, [](const auto& o) { return !o.empty(); });
  const long nodes = model.problem.settings.search_nodes;
  if (rows > static_cast<long>(kExactRows) || nodes <= 0) return out;
  Searched found = search(model, goal, limits, std::move(out.solution), nodes);
  out = {std::move(found.best), found.complete};
  // Of all that are as good, the one that is best in the other respect.
  Limits within = limits;
  if (goal == Goal::time) {
    within.end = out.solution.end;
  } else {
    within.budget = std::min(limits.budget, out.solution.usd);
  }
  Solution start = out.solution;
  Searched finer =
      search(model, goal == Goal::time ? Goal::cost : Goal::time, within, std::move(start), nodes);
  if (is_better(finer.best, out.solution, goal)) out.solution = std::move(finer.best);
  return out;
}

Placement placed(const Model& model, std::size_t row, const Option& option, const Slot& slot) {
  const Region& region = model.problem.regions[static_cast<std::size_t>(option.region)];
  Placement out{.waits = false,
                .region = region.name,
                .priced = option.priced,
                .cost = {.instances = option.instances_usd, .lost = option.lost_usd},
                .copies = slot.copies,
                .copy_end = slot.copy_end,
                .start = slot.start,
                .end = slot.end};
  if (option.offer >= 0) {
    const Offer& offer = region.offers[static_cast<std::size_t>(option.offer)];
    out.market = offer.market;
    out.zone = offer.zone;
  }
  if (option.copy >= 0) {
    const Copy& copy = model.copies[static_cast<std::size_t>(option.copy)];
    out.copied_from = model.problem.links[static_cast<std::size_t>(copy.link)].from;
    if (slot.copies) out.cost.copy = copy.usd;
  }
  const Settings& settings = model.problem.settings;
  if (out.market == Market::spot && settings.spot == SpotPolicy::deadline &&
      settings.deadline_hours)
    out.on_demand_from = *settings.deadline_hours - model.problem.rows[row].hours -
                         settings.checkpoints.restart_hours;
  return out;
}

double peak_rate(const Problem& problem, const Plan& plan) {
  std::vector<std::pair<double, double>> changes;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const auto& rate = problem.rows[row].images_per_second;
    if (plan.rows[row].waits || !rate) continue;
    changes.emplace_back(plan.rows[row].start, *rate);
    changes.emplace_back(plan.rows[row].end, -*rate);
  }
  std::ranges::sort(changes);  // ends before starts of the same time
  double now = 0, peak = 0;
  for (const auto& [time, change] : changes) peak = std::max(peak, now += change);
  return peak;
}

// Without a rate the expected loss of spot is too low: said, not hidden.
void add_notes(const Problem& problem, Plan& plan) {
  std::set<std::pair<std::string, std::string>> told;
  for (std::size_t row = 0; row < plan.rows.size(); ++row) {
    const Placement& place = plan.rows[row];
    if (place.waits || place.market != Market::spot) continue;
    const std::string& type = problem.rows[row].type;
    const auto region = std::ranges::find(problem.regions, place.region, &Region::name);
    const bool known = std::ranges::any_of(region->offers, [&](const Offer& offer) {
      return offer.type == type && offer.market == Market::spot && offer.zone == place.zone &&
             offer.reclaims_per_hour > 0;
    });
    if (known || !told.emplace(type, place.region).second) continue;
    plan.notes.push_back(fmt::format(
        "spot of {} in {} has no reclaim rate: no lost work is counted", type, place.region));
  }
}

void add_bound(const Model& model, const Solved& solved, Goal goal, Plan& plan) {
  const double value = goal == Goal::time ? solved.solution.end : solved.solution.usd;
  plan.exact = solved.exact || solved.solution.waiting == plan.rows.size();
  plan.bound = plan.exact           ? value
               : goal == Goal::time ? relax_time(model, solved.solution)
                                    : relax_cost(model, solved.solution, model.deadline).bound;
  plan.bound = std::min(plan.bound, value);
  plan.gap = value > 0 ? (value - plan.bound) / value : 0;
}

Plan plan_once(const Problem& problem) {
  const Model model(problem);
  const Goal goal = problem.settings.objective == Objective::time ? Goal::time : Goal::cost;
  const Solved solved = solve(model, goal);
  const Solution& solution = solved.solution;
  Plan plan{.end = solution.end, .waiting = solution.waiting};
  for (std::size_t row = 0; row < problem.rows.size(); ++row) {
    if (const int chosen = solution.option[row]; chosen >= 0) {
      plan.rows.push_back(placed(model, row, model.options[row][static_cast<std::size_t>(chosen)],
                                 solution.slots[row]));
    } else {
      plan.rows.push_back({.reason = why_it_waits(model, solution, row)});
    }
    const Placement& last = plan.rows.back();
    plan.cost.instances += last.cost.instances;
    plan.cost.copy += last.cost.copy;
    plan.cost.lost += last.cost.lost;
    if (!last.waits && !last.priced) ++plan.unpriced;
  }
  add_bound(model, solved, goal, plan);
  plan.images_per_second = peak_rate(problem, plan);
  add_notes(problem, plan);
  return plan;
}

}  // namespace

Plan make_plan(const Problem& problem) {
  check(problem);
  const auto& settings = problem.settings;
  Plan plan = plan_once(problem);
  if (!settings.soft_usd || plan.cost.total() <= *settings.soft_usd) return plan;
  Problem tighter = problem;
  tighter.settings.hard_usd = std::min(*settings.soft_usd, settings.hard_usd.value_or(kInfinite));
  Plan within = plan_once(tighter);
  if (within.waiting <= plan.waiting) return within;
  plan.notes.push_back(
      fmt::format("the soft budget of {:.2f} USD is passed: {:.2f} USD are expected",
                  *settings.soft_usd, plan.cost.total()));
  return plan;
}

}  // namespace meridian::fleet::placement
