// SPDX-License-Identifier: Apache-2.0
#include "tune/search/observations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace meridian::tune {

Layout layout_of(const Space& space) {
  Layout layout;
  for (const Parameter& p : space.parameters()) {
    layout.push_back(p.is_categorical() ? Coordinate::category : Coordinate::number);
  }
  return layout;
}

std::vector<double> coordinates_of(const Space& space, const Point& point) {
  std::vector<double> x = space.to_unit(point);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (space.parameter(i).is_categorical()) x[i] = is_inactive(point[i]) ? -1 : point[i];
  }
  return x;
}

Point point_at(const Space& space, std::span<const double> coordinates) {
  Point point(space.size(), inactive);
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!space.is_active(i, point)) continue;
    if (space.parameter(i).is_categorical()) {
      point[i] = std::max(coordinates[i], 0.0);
    } else {
      point[i] = space.from_unit(i, coordinates[i]);
    }
  }
  return point;
}

namespace {

// Failed trials are no better than the worst that was measured in their group.
void fill_failed(Observations& out, const std::vector<std::size_t>& failed) {
  double worst = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < out.losses.size(); ++i) {
    if (out.groups[i] == 0 && !std::isnan(out.losses[i])) worst = std::max(worst, out.losses[i]);
  }
  for (const std::size_t i : failed) out.losses[i] = std::isfinite(worst) ? worst : 0;
}

}  // namespace

Observations observe(const Problem& problem, const History& history, std::size_t objective,
                     std::size_t told) {
  Observations out;
  out.rows.width = problem.space.size();
  std::vector<std::size_t> failed;
  const auto add = [&](const Point& point, const std::vector<double>& values) {
    out.rows.add(coordinates_of(problem.space, point));
    if (values.empty()) failed.push_back(out.losses.size());
    out.losses.push_back(values.empty() ? std::nan("")
                                        : loss(values[objective], problem.directions[objective]));
  };
  for (const PriorTrial& trial : history.prior()) {
    add(trial.point, trial.values);
    out.groups.push_back(trial.group);
    out.trials.push_back(Observations::npos);
  }
  for (std::size_t i = 0; i < std::min(told, history.told()); ++i) {
    const std::size_t number = history.order()[i];
    add(history.trials()[number].point, history.trials()[number].values);
    out.groups.push_back(0);
    out.trials.push_back(number);
  }
  fill_failed(out, failed);
  return out;
}

Rows pending_rows(const Problem& problem, const History& history) {
  Rows out{problem.space.size(), {}};
  for (const Trial& trial : history.trials()) {
    if (trial.state == TrialState::pending) out.add(coordinates_of(problem.space, trial.point));
  }
  return out;
}

std::vector<std::size_t> most_telling(std::span<const double> losses, std::size_t limit) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() <= limit) return order;
  const std::size_t best = limit / 2, others = limit - best;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return losses[i]; });
  std::vector<std::size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(best), order.end());
  std::ranges::sort(rest);
  order.resize(best);
  for (std::size_t k = 0; k < others; ++k) order.push_back(rest[k * rest.size() / others]);
  std::ranges::sort(order);
  return order;
}

}  // namespace meridian::tune
