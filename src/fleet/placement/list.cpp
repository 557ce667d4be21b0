// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/list.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace meridian::fleet::placement {
namespace {

constexpr int kBisections = 7;
constexpr double kUnplaced = 1e300;  // dearer than anything

using Order = std::vector<std::size_t>;
using Prices = std::vector<double>;  // by pool, per instance and hour

double weight(const Model& model, const Prices& prices, std::size_t row, const Option& option) {
  return option.usd() +
         prices[static_cast<std::size_t>(option.pool)] * model.gangs[row] * option.hours;
}

// Which copies are worth their price: of each data set, one region after another is opened while
// the rows that read it save more than the copy costs.
std::vector<char> open_copies(const Model& model, const Prices& prices) {
  std::vector<char> open(model.copies.size());
  std::vector<std::vector<std::pair<std::size_t, double>>> users(open.size());  // row, its least
  std::vector<double> least(model.options.size(), kUnplaced);
  for (std::size_t row = 0; row < model.options.size(); ++row) {
    for (const Option& option : model.options[row]) {
      const double value = weight(model, prices, row, option);
      if (option.copy < 0) {
        least[row] = std::min(least[row], value);
        continue;
      }
      auto& list = users[static_cast<std::size_t>(option.copy)];
      if (list.empty() || list.back().first != row) list.emplace_back(row, value);
      list.back().second = std::min(list.back().second, value);
    }
  }
  for (std::size_t begin = 0, end = 0; begin < open.size(); begin = end) {
    while (end < open.size() && model.copies[end].data == model.copies[begin].data) ++end;
    while (true) {
      std::size_t best = end;
      double most = 1e-12;
      for (std::size_t copy = begin; copy < end; ++copy) {
        if (open[copy]) continue;
        double saved = -model.copies[copy].usd;
        for (const auto& [row, value] : users[copy]) saved += std::max(0.0, least[row] - value);
        if (saved <= most) continue;
        most = saved;
        best = copy;
      }
      if (best == end) break;
      open[best] = 1;
      for (const auto& [row, value] : users[best]) least[row] = std::min(least[row], value);
    }
  }
  return open;
}

struct Pass {
  const Model& model;
  const Limits& limits;
  const Prices& prices;
  const std::vector<char>& open;  // copies; empty = by the end alone, whatever it costs
  double kept = 0;                // of the budget, for the rows that follow
};

double least_usd(const Model& model, std::size_t row) {
  double least = kUnplaced;
  for (const Option& option : model.options[row]) least = std::min(least, option.usd());
  return least;
}

// What the row costs in the cheapest placement known, so that the others leave it that much.
double kept_usd(const Model& model, const Solution* cheapest, std::size_t row) {
  return cheapest != nullptr && cheapest->option[row] >= 0 ? cheapest->slots[row].usd
                                                           : least_usd(model, row);
}

// The option that the row takes in the schedule so far.
int choose(const Pass& pass, const Schedule& schedule, std::size_t row, Slot& chosen) {
  int best = -1;
  double least = kInfinite;
  const auto& options = pass.model.options[row];
  for (std::size_t i = 0; i < options.size(); ++i) {
    const Option& option = options[i];
    const Slot slot = schedule.look(row, option);
    if (!pass.limits.allows(option, slot, schedule.usd() + pass.kept)) continue;
    double value = slot.end;
    if (!pass.open.empty() || pass.model.copies.empty()) {
      value = weight(pass.model, pass.prices, row, option);
      if (slot.copies && !pass.open[static_cast<std::size_t>(option.copy)])
        value += pass.model.copies[static_cast<std::size_t>(option.copy)].usd;
    }
    const bool equal = best >= 0 && !is_less(value, least) && !is_less(least, value);
    const bool nicer = equal && (is_less(slot.end, chosen.end) ||
                                 (!is_less(chosen.end, slot.end) && is_less(slot.usd, chosen.usd)));
    if (!nicer && (equal || value >= least)) continue;
    best = static_cast<int>(i);
    least = value;
    chosen = slot;
  }
  return best;
}

enum class By { cost, end };

Solution run(const Model& model, const Limits& limits, const Prices& prices, const Order& order,
             By by, const std::vector<char>& open, const Solution* cheapest = nullptr) {
  Solution out = nothing_placed(model.options.size());
  Schedule schedule(model);
  static const std::vector<char> none;
  Pass pass{
      .model = model, .limits = limits, .prices = prices, .open = by == By::end ? none : open};
  double rest = 0;
  for (const std::size_t row : order) rest += kept_usd(model, cheapest, row);
  const bool all_fit = !is_less(limits.budget, rest);  // else the first ones take what there is
  for (const std::size_t row : order) {
    rest -= kept_usd(model, cheapest, row);
    pass.kept = all_fit && std::isfinite(limits.budget) ? std::max(0.0, rest) : 0;
    Slot slot;
    const int chosen = choose(pass, schedule, row, slot);
    if (chosen < 0) continue;
    schedule.take(row, model.options[row][static_cast<std::size_t>(chosen)], slot);
    out.option[row] = chosen;
    out.slots[row] = slot;
    out.order.push_back(row);
    --out.waiting;
  }
  out.usd = schedule.usd();
  out.end = schedule.end();
  return out;
}

template <class Key>
Order sorted_by(const Order& rows, const Key& key) {
  std::vector<std::pair<double, std::size_t>> keyed;
  for (const std::size_t row : rows) keyed.emplace_back(key(row), row);
  std::ranges::sort(keyed);
  Order out;
  for (const auto& [value, row] : keyed) out.push_back(row);
  return out;
}

std::vector<Order> make_orders(const Model& model, const Prices& prices, const Order& rows) {
  const auto fastest = [&](std::size_t row) {
    double hours = kInfinite;
    for (const Option& option : model.options[row]) hours = std::min(hours, option.hours);
    return hours;
  };
  // What it costs per instance-hour not to get the first choice; those with no other go first.
  const auto regret = [&](std::size_t row) {
    double first = kUnplaced, second = kUnplaced;
    int pool = -1;
    for (const Option& option : model.options[row]) {
      const double value = weight(model, prices, row, option);
      if (value < first) {
        if (option.pool != pool) second = first;
        first = value;
        pool = option.pool;
      } else if (value < second && option.pool != pool) {
        second = value;
      }
    }
    return -(second - first) / std::max(1e-9, model.gangs[row] * fastest(row));
  };
  // Those that have the fewest slots to choose from go first; of these the longest.
  const auto choice = [&](std::size_t row) {
    double sum = -1e-6 * fastest(row);
    int last = -1;
    for (const Option& option : model.options[row]) {
      if (option.pool != last) sum += model.slots[static_cast<std::size_t>(option.pool)];
      last = option.pool;
    }
    return sum;
  };
  return {sorted_by(rows, [&](std::size_t row) { return -fastest(row); }), sorted_by(rows, choice),
          sorted_by(rows, regret)};
}

Order rows_with_options(const Model& model) {
  Order rows;
  for (std::size_t row = 0; row < model.options.size(); ++row)
    if (!model.options[row].empty()) rows.push_back(row);
  return rows;
}

// The best of the lists by all orders, without prices and with those that the first one gives.
Solution cheapest(const Model& model, const Limits& limits, const Order& rows) {
  Prices prices(model.slots.size());
  auto open = open_copies(model, prices);
  Solution best = nothing_placed(model.options.size());
  const auto try_order = [&](const Order& order) {
    Solution found = run(model, limits, prices, order, By::cost, open);
    if (is_better(found, best, Goal::cost)) best = std::move(found);
  };
  const auto orders = make_orders(model, prices, rows);
  try_order(orders[0]);
  if (std::isfinite(limits.budget))
    try_order(sorted_by(rows, [&](std::size_t row) { return least_usd(model, row); }));
  if (std::isinf(limits.deadline)) return best;  // no order costs less than another
  try_order(orders[2]);
  prices = relax_cost(model, best, limits.deadline).prices;
  open = open_copies(model, prices);
  for (const Order& order : make_orders(model, prices, rows)) try_order(order);
  return best;
}

// Every row placed within a shorter end than `best`, as cheaply as that allows.
Solution shorten(const Model& model, const Limits& limits, Solution best, const Solution& cheap,
                 const Order& rows) {
  double low = relax_time(model, best), high = best.end;
  for (int i = 0; i < kBisections && is_less(low, high); ++i) {
    // The bound itself first: it is often reached.
    Limits within = limits;
    within.end = i == 0 ? low : (low + high) / 2;
    const Prices prices = relax_cost(model, best, within.end).prices;
    const auto open = open_copies(model, prices);
    bool reached = false;
    const auto orders = make_orders(model, prices, rows);
    for (std::size_t k = 1; k < orders.size() && !reached; ++k) {
      Solution found = run(model, within, prices, orders[k], By::cost, open, &cheap);
      reached = found.waiting <= best.waiting;
      if (reached && is_better(found, best, Goal::time)) best = std::move(found);
    }
    (reached ? high : low) = reached ? std::min(within.end, best.end) : within.end;
  }
  return best;
}

}  // namespace

Solution place_by_lists(const Model& model, Goal goal, const Limits& limits) {
  const Order rows = rows_with_options(model);
  Solution best = cheapest(model, limits, rows);
  if (goal == Goal::cost) return best;
  const Solution cheap = best;
  // What the budget does not admit stays out of the race.
  const Order admitted = best.waiting == model.options.size() - rows.size() ? rows : best.order;
  const Prices prices(model.slots.size());
  for (const Order& order : make_orders(model, prices, admitted)) {
    Solution found = run(model, limits, prices, order, By::end, {}, &cheap);
    if (is_better(found, best, Goal::time)) best = std::move(found);
  }
  return shorten(model, limits, std::move(best), cheap, admitted);
}

}  // namespace meridian::fleet::placement
