// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"

namespace meridian::fleet::placement {
namespace {

const Offer* offer_of(const Model& model, const Option& option) {
  if (option.offer < 0) return nullptr;
  const Region& region = model.problem.regions[static_cast<std::size_t>(option.region)];
  return &region.offers[static_cast<std::size_t>(option.offer)];
}

}  // namespace

std::string hours_text(double hours) {
  if (std::abs(hours) >= 1) return fmt::format("{:.1f} h", hours);
  const double minutes = hours * 60;
  return std::abs(minutes) >= 1 ? fmt::format("{:.0f} min", minutes)
                                : fmt::format("{:.0f} s", minutes * 60);
}

std::string usd_text(double usd) {
  return std::abs(usd) >= 0.995 || usd == 0 ? fmt::format("{:.2f} USD", usd)
                                            : fmt::format("{:.2g} USD", usd);
}

std::string text_of(const Model& model, std::size_t index, const Judgement& judgement) {
  const Row& row = model.problem.rows[index];
  const Settings& settings = model.problem.settings;
  const Option& option = judgement.option;
  const Offer* offer = offer_of(model, option);
  switch (judgement.refusal) {
    case Refusal::none: return "";
    case Refusal::elsewhere:
      if (!row.fixed.empty()) return fmt::format("the row is fixed to {}", row.fixed);
      return settings.objective == Objective::pinned ? "the row names no region"
                                                     : "its data is not there";
    case Refusal::residency: return "not one of the allowed regions";
    case Refusal::no_pool: return fmt::format("no {} there", row.type);
    case Refusal::too_small: {
      const int most = model.capacity(option.pool);
      return fmt::format("needs {} {}, has {}", row.instances, row.type, most);
    }
    case Refusal::no_price: return "no price";
    case Refusal::no_spot: return "spot is not wanted";
    case Refusal::zone_avoided:
      return fmt::format("reclaimed {} ago; avoided for {}",
                         hours_text(offer->reclaimed_hours_ago.value_or(0)),
                         hours_text(settings.avoid_hours));
    case Refusal::no_link: {
      const auto data = std::ranges::find(model.problem.data, row.data, &Data::name);
      return data->gigabytes ? fmt::format("no price or speed for copying {} there", row.data)
                             : fmt::format("{} is not there, and its size is not known", row.data);
    }
    case Refusal::never_ends: return "reclaimed faster than it goes on";
    case Refusal::deadline: {
      const double copy =
          option.copy < 0 ? 0 : model.copies[static_cast<std::size_t>(option.copy)].hours;
      return fmt::format("takes {} if it starts now: {} more than the deadline leaves",
                         hours_text(copy + option.need),
                         hours_text(copy + option.need - model.deadline));
    }
    case Refusal::budget:
      return fmt::format("costs {} alone: the hard budget is {}", usd_text(option.usd()),
                         usd_text(model.budget));
  }
  return "";
}

std::string why_it_waits(const Model& model, const Solution& solution, std::size_t row) {
  if (model.options[row].empty()) {
    std::map<std::string, std::vector<std::string>> regions;  // by why
    for (const Judgement& judgement : model.judge(row)) {
      const auto& name =
          model.problem.regions[static_cast<std::size_t>(judgement.option.region)].name;
      auto& list = regions[text_of(model, row, judgement)];
      if (list.empty() || list.back() != name) list.push_back(name);
    }
    if (regions.empty()) return "there is no region";
    std::vector<std::string> parts;
    for (const auto& [why, names] : regions)
      parts.push_back(fmt::format("{} ({})", why, base::join(names, ", ")));
    return base::join(parts, "; ");
  }
  double least = kInfinite;
  for (const Option& option : model.options[row]) least = std::min(least, option.usd());
  if (is_less(model.budget, solution.usd + least))
    return fmt::format("budget: it costs {} at least, and {} of {} are planned for others",
                       usd_text(least), usd_text(solution.usd), usd_text(model.budget));
  return "capacity: the instances are busy until it is too late for the deadline";
}

}  // namespace meridian::fleet::placement
