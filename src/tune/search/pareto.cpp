// SPDX-License-Identifier: Apache-2.0
#include "tune/search/pareto.h"

#include <algorithm>

namespace meridian::tune {

bool dominates(const Losses& a, const Losses& b) {
  bool better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    better |= a[k] < b[k];
  }
  return better;
}

std::vector<std::size_t> domination_ranks(const std::vector<Losses>& losses) {
  const std::size_t n = losses.size();
  std::vector<std::size_t> ranks(n), order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  // What dominates stands before what it dominates, so each rank is known when it is needed.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const Losses& { return losses[i]; });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (dominates(losses[order[j]], losses[order[i]])) {
        ranks[order[i]] = std::max(ranks[order[i]], ranks[order[j]] + 1);
      }
    }
  }
  return ranks;
}

std::vector<std::size_t> pareto_front(const Problem& problem, const History& history) {
  std::vector<std::size_t> numbers;
  std::vector<Losses> losses;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Trial& trial = history.trials()[i];
    if (trial.state != TrialState::complete || !is_feasible(trial)) continue;
    numbers.push_back(i);
    losses.emplace_back();
    for (std::size_t k = 0; k < trial.values.size(); ++k) {
      losses.back().push_back(loss(trial.values[k], problem.directions[k]));
    }
  }
  const auto ranks = domination_ranks(losses);
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (ranks[i] == 0) front.push_back(numbers[i]);
  }
  return front;
}

double hypervolume(std::vector<Losses> points, const Losses& reference) {
  const std::size_t last = reference.size() - 1;
  std::erase_if(points, [&](const Losses& p) {
    for (std::size_t k = 0; k <= last; ++k) {
      if (!(p[k] < reference[k])) return true;
    }
    return false;
  });
  std::ranges::sort(points, {}, [&](const Losses& p) { return p[last]; });
  if (last == 0) return points.empty() ? 0 : reference[0] - points[0][0];
  // Between two neighbouring values of the last objective the cut is the volume, one dimension
  // lower, of the points so far.
  double volume = 0;
  std::vector<Losses> cut;
  const Losses lower(reference.begin(), reference.end() - 1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Losses projected(points[i].begin(), points[i].end() - 1);
    std::erase_if(cut, [&](const Losses& p) { return dominates(projected, p) || p == projected; });
    if (std::ranges::none_of(cut, [&](const Losses& p) { return dominates(p, projected); })) {
      cut.push_back(std::move(projected));
    }
    const double next = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    if (next > points[i][last]) volume += (next - points[i][last]) * hypervolume(cut, lower);
  }
  return volume;
}

}  // namespace meridian::tune
