// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fleet/placement/list.h"

namespace meridian::fleet::placement {
namespace {

constexpr int kCostSteps = 40, kTimeSteps = 40;
constexpr std::size_t kSets = 48;

// The options of the rows that are placed, in one piece.
struct Flat {
  struct Entry {
    std::size_t pool;
    double area;  // instance-hours
    double usd;   // with its share of the copy
  };
  std::vector<Entry> entries;
  std::vector<std::size_t> ends;  // by row: behind its last entry
};

Flat flatten(const Model& model, const Solution& solution) {
  Flat flat;
  for (std::size_t row = 0; row < model.options.size(); ++row) {
    if (solution.option[row] < 0) continue;
    for (const Option& option : model.options[row]) {
      double usd = option.usd();
      if (option.copy >= 0) {
        const Copy& copy = model.copies[static_cast<std::size_t>(option.copy)];
        usd += copy.usd / copy.users;
      }
      flat.entries.push_back(
          {static_cast<std::size_t>(option.pool), model.gangs[row] * option.hours, usd});
    }
    flat.ends.push_back(flat.entries.size());
  }
  return flat;
}

struct Sweep {
  double total = 0;
  std::vector<double> load;  // by pool: instance-hours of the options that were least
};

// Every row takes its least option by `value`.
template <class Value>
Sweep sweep(const Flat& flat, std::size_t pools, const Value& value) {
  Sweep out{.load = std::vector<double>(pools)};
  std::size_t at = 0;
  for (const std::size_t end : flat.ends) {
    std::size_t best = at;
    double least = kInfinite;
    for (; at < end; ++at) {
      if (const double v = value(flat.entries[at]); v < least) {
        least = v;
        best = at;
      }
    }
    out.total += least;
    out.load[flat.entries[best].pool] += flat.entries[best].area;
  }
  return out;
}

double slowest_row(const Model& model, const Solution& solution) {
  double bound = 0;
  for (std::size_t row = 0; row < model.options.size(); ++row) {
    if (solution.option[row] < 0) continue;
    double fastest = kInfinite;
    for (const Option& option : model.options[row]) {
      const double copy =
          option.copy < 0 ? 0 : model.copies[static_cast<std::size_t>(option.copy)].hours;
      fastest = std::min(fastest, copy + option.hours);
    }
    bound = std::max(bound, fastest);
  }
  return bound;
}

// The pools in the order in which the solution is done with them, the last one first.
std::vector<std::size_t> busiest(const Model& model, const Solution& solution) {
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t p = 0; p < model.slots.size(); ++p) ends.emplace_back(0, p);
  for (std::size_t row = 0; row < model.options.size(); ++row) {
    if (solution.option[row] < 0) continue;
    const auto& option = model.options[row][static_cast<std::size_t>(solution.option[row])];
    auto& end = ends[static_cast<std::size_t>(option.pool)].first;
    end = std::min(end, -solution.slots[row].end);
  }
  std::ranges::sort(ends);
  std::vector<std::size_t> out;
  for (const auto& [end, pool] : ends)
    if (end < 0) out.push_back(pool);
  return out;
}

// The time that weighted instance-hours take at least; and where they pile up.
Sweep weigh(const Model& model, const Flat& flat, std::vector<double>& weights) {
  double sum = 0;
  for (std::size_t p = 0; p < weights.size(); ++p) sum += weights[p] * model.slots[p];
  for (double& weight : weights) weight /= sum;
  return sweep(flat, weights.size(),
               [&](const Flat::Entry& e) { return weights[e.pool] * e.area; });
}

}  // namespace

Relaxed relax_cost(const Model& model, const Solution& solution, double deadline) {
  const Flat flat = flatten(model, solution);
  Relaxed out{.bound = 0, .prices = std::vector<double>(model.slots.size())};
  std::vector<double> prices = out.prices;
  double size = 1;
  for (int step = 0; step < kCostSteps; ++step) {
    const Sweep s = sweep(flat, prices.size(),
                          [&](const Flat::Entry& e) { return e.usd + prices[e.pool] * e.area; });
    double bound = s.total, square = 0;
    std::vector<double> excess(prices.size());
    for (std::size_t p = 0; p < prices.size(); ++p) {
      const double room = std::isinf(deadline) ? kInfinite : model.slots[p] * deadline;
      if (prices[p] > 0) bound -= prices[p] * room;
      excess[p] = s.load[p] - room;
      if (excess[p] > 0 || prices[p] > 0) square += excess[p] * excess[p];
    }
    if (bound > out.bound) {
      out = {bound, prices};
    } else {
      size *= 0.8;
    }
    if (square == 0) break;  // everything fits at these prices
    const double length = size * std::max(solution.usd - bound, 1e-3 * solution.usd) / square;
    if (!(length > 0)) break;
    for (std::size_t p = 0; p < prices.size(); ++p)
      if (std::isfinite(excess[p])) prices[p] = std::max(0.0, prices[p] + length * excess[p]);
  }
  return out;
}

double relax_time(const Model& model, const Solution& solution) {
  const Flat flat = flatten(model, solution);
  double bound = slowest_row(model, solution);
  const auto pools = busiest(model, solution);
  std::vector<double> weights(model.slots.size()), best;
  double most = 0;
  const auto look = [&](std::vector<double> at) {
    const Sweep s = weigh(model, flat, at);
    if (s.total > most) {
      most = s.total;
      best = at;
    }
    return s;
  };
  // Rows that can only go to the busiest pools take that long there.
  for (std::size_t i = 0; i < std::min(pools.size(), kSets); ++i) {
    weights[pools[i]] = 1;
    look(weights);
  }
  if (best.empty()) return bound;
  // From there on pools that would be done later than the mean weigh more.
  weights = best;
  const double start = 0.01 / std::accumulate(model.slots.begin(), model.slots.end(), 1.0);
  for (const std::size_t p : pools) weights[p] = std::max(weights[p], start);
  for (int step = 0; step < kTimeSteps; ++step) {
    const Sweep s = look(weights);
    for (const std::size_t p : pools) {
      const double pressure = s.load[p] / model.slots[p] / std::max(s.total, 1e-9);
      weights[p] *= std::exp(0.3 / std::sqrt(1.0 + step) * (std::min(pressure, 3.0) - 1));
    }
  }
  return std::max(bound, most);
}

}  // namespace meridian::fleet::placement
