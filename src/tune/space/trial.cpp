// SPDX-License-Identifier: Apache-2.0
#include "tune/space/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace meridian::tune {

History::History(std::vector<PriorTrial> prior) : prior_(std::move(prior)) {
  for (const PriorTrial& trial : prior_) {
    if (trial.group == 0) seen_.insert(trial.point);
  }
}

std::size_t History::add(Trial pending) {
  ++revision_;
  seen_.insert(pending.point);
  pending.state = TrialState::pending;
  pending.told = 0;
  trials_.push_back(std::move(pending));
  return trials_.size() - 1;
}

Trial& History::pending(std::size_t number) {
  if (number >= trials_.size()) {
    throw base::Error(base::Code::not_found,
                      fmt::format("no trial {}; there are {}", number, trials_.size()));
  }
  if (trials_[number].state != TrialState::pending) {
    throw base::Error(base::Code::failed_precondition, fmt::format("trial {} has ended", number));
  }
  return trials_[number];
}

void History::report(std::size_t number, Report report) {
  Trial& trial = pending(number);
  ++revision_;
  const auto at = std::ranges::upper_bound(trial.reports, report.resource, {}, &Report::resource);
  trial.reports.insert(at, report);
}

void History::tell(std::size_t number, TrialState end, std::vector<double> values,
                   std::vector<double> constraints, double cost) {
  if (end == TrialState::pending) {
    throw base::Error(base::Code::invalid_argument, "a trial cannot end as pending");
  }
  Trial& trial = pending(number);
  ++revision_;
  const auto finite = [](double v) { return std::isfinite(v); };
  const bool usable = !values.empty() && std::ranges::all_of(values, finite) &&
                      std::ranges::all_of(constraints, finite);
  trial.state = usable ? end : TrialState::failed;
  if (trial.state != TrialState::failed) {
    trial.values = std::move(values);
    trial.constraints = std::move(constraints);
  }
  trial.cost = cost;
  trial.told = ++told_;
  order_.push_back(number);
}

bool is_feasible(const Trial& trial) {
  return std::ranges::all_of(trial.constraints, [](double c) { return c <= 0; });
}

std::optional<std::size_t> find_best(const Problem& problem, const History& history) {
  using Rank = std::tuple<bool, bool, double>;  // infeasible, not complete, loss
  std::optional<std::size_t> best;
  Rank best_rank;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Trial& trial = history.trials()[i];
    if (trial.values.empty()) continue;
    const Rank rank{!is_feasible(trial), trial.state != TrialState::complete,
                    loss(trial.values[0], problem.directions[0])};
    if (!best || rank < best_rank) std::tie(best, best_rank) = std::pair(i, rank);
  }
  return best;
}

}  // namespace meridian::tune
