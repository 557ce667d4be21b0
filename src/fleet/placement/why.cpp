// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "fleet/placement/plan.h"
#include "fleet/placement/refusal.h"

namespace meridian::fleet::placement {
namespace {

struct Interval {
  double start = 0, end = 0;
  int instances = 0;
};

// What runs in the pool by the plan, without that row.
std::vector<Interval> busy(const Model& model, const Plan& plan, std::size_t row, int pool) {
  std::vector<Interval> out;
  for (std::size_t other = 0; other < plan.rows.size(); ++other) {
    const Placement& place = plan.rows[other];
    if (other == row || place.waits) continue;
    const auto& options = model.options[other];
    const bool here = std::ranges::any_of(options, [&](const Option& option) {
      return option.pool == pool &&
             model.problem.regions[static_cast<std::size_t>(option.region)].name == place.region;
    });
    if (here) out.push_back({place.start, place.end, model.gangs[other]});
  }
  return out;
}

// The earliest time from `ready` at which so many instances are free for so long.
double earliest(const std::vector<Interval>& intervals, int room, double ready, double hours) {
  std::vector<double> starts{ready};
  for (const Interval& interval : intervals)
    if (interval.end > ready) starts.push_back(interval.end);
  std::ranges::sort(starts);
  for (const double start : starts) {
    std::vector<std::pair<double, int>> changes;
    for (const Interval& i : intervals) {
      if (!is_less(start, i.end) || !is_less(i.start, start + hours)) continue;
      changes.emplace_back(std::max(i.start, start), i.instances);
      changes.emplace_back(i.end, -i.instances);
    }
    std::ranges::sort(changes);
    int used = 0, most = 0;
    for (const auto& [time, change] : changes) most = std::max(most, used += change);
    if (most <= room) return start;
  }
  return kInfinite;
}

// When the row would have its copy, and what it pays for it.
struct CopyTerms {
  double end = 0, usd = 0;
};
CopyTerms copy_terms(const Model& model, const Plan& plan, std::size_t row, const Option& option) {
  if (option.copy < 0) return {};
  const Copy& copy = model.copies[static_cast<std::size_t>(option.copy)];
  const Problem& problem = model.problem;
  const Link& link = problem.links[static_cast<std::size_t>(copy.link)];
  double busy_until = 0;
  for (std::size_t other = 0; other < plan.rows.size(); ++other) {
    const Placement& place = plan.rows[other];
    if (other == row || !place.copies || place.copied_from != link.from || place.region != link.to)
      continue;
    if (problem.rows[other].data == problem.rows[row].data) return {place.copy_end, 0};
    busy_until = std::max(busy_until, place.copy_end);
  }
  return {busy_until + copy.hours, copy.usd};
}

std::string flip_by_cost(const Option& option, int instances, double more) {
  if (!is_less(0, more)) return "costs the same";
  const double per_price = option.hours * instances;  // USD for each USD per hour
  return fmt::format("costs {} more: taken if its price fell by {} per hour", usd_text(more),
                     usd_text(more / per_price));
}

std::string flip_of(const Model& model, const Plan& plan, std::size_t row, const Option& option,
                    const Candidate& candidate) {
  const Placement& chosen = plan.rows[row];
  if (chosen.waits) return "";
  const double more = candidate.cost.total() - chosen.cost.total();
  if (model.problem.settings.objective != Objective::time)
    return flip_by_cost(option, model.gangs[row], more);
  if (is_less(plan.end, candidate.end))
    return fmt::format("all would be done {} later: taken if it were done by {}",
                       hours_text(candidate.end - plan.end), hours_text(plan.end));
  return flip_by_cost(option, model.gangs[row], more);
}

void judge_among_others(const Model& model, const Plan& plan, std::size_t row, const Option& option,
                        Candidate& candidate) {
  const Placement& chosen = plan.rows[row];
  const CopyTerms copy = copy_terms(model, plan, row, option);
  candidate.cost.copy = copy.usd;
  candidate.start = earliest(busy(model, plan, row, option.pool), model.capacity(option.pool),
                             copy.end, option.hours);
  candidate.end = candidate.start + option.hours;
  const double others = plan.cost.total() - (chosen.waits ? 0 : chosen.cost.total());
  const double late = candidate.start + option.need - model.deadline;
  if (is_less(0, late)) {
    candidate.ruled_out =
        fmt::format("its instances are busy: {} after the deadline", hours_text(late));
    candidate.flip = "taken if more instances were free, or the deadline were later";
  } else if (const double over = others + candidate.cost.total() - model.budget; is_less(0, over)) {
    candidate.ruled_out = fmt::format("passes the hard budget by {}", usd_text(over));
    candidate.flip = fmt::format("taken if the budget were {} more", usd_text(over));
  } else {
    candidate.flip = flip_of(model, plan, row, option, candidate);
    if (!chosen.waits && is_less(candidate.cost.total(), chosen.cost.total()) &&
        model.problem.settings.objective != Objective::time)
      candidate.flip = "cheaper for this row alone, dearer for all together";
  }
}

}  // namespace

std::vector<Candidate> explain(const Problem& problem, const Plan& plan, std::size_t row) {
  const Model model(problem);
  const Placement& chosen = plan.rows[row];
  std::vector<Candidate> out;
  for (const Judgement& judgement : model.judge(row)) {
    const Option& option = judgement.option;
    const Region& region = problem.regions[static_cast<std::size_t>(option.region)];
    Candidate c{.region = region.name,
                .ruled_out = text_of(model, row, judgement),
                .priced = option.priced,
                .cost = {.instances = option.instances_usd, .lost = option.lost_usd}};
    if (option.offer >= 0) {
      const Offer& offer = region.offers[static_cast<std::size_t>(option.offer)];
      c.zone = offer.zone;
      c.market = offer.market;
    }
    c.chosen = !chosen.waits && c.region == chosen.region && c.zone == chosen.zone &&
               c.market == chosen.market;
    if (c.chosen) {
      c.cost = chosen.cost;
      c.start = chosen.start;
      c.end = chosen.end;
    } else if (judgement.refusal == Refusal::none) {
      judge_among_others(model, plan, row, option, c);
    }
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace meridian::fleet::placement
