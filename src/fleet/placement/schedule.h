// Rows put into time one after another: each makes its copy (unless it is made already) when the
// link is free, and starts as soon as the copy and enough instances of its pool are there.
//
// Every schedule that wastes nothing comes out of some order of the rows: taken in the order of
// their starts, no row starts later than there. So a search over orders and options finds the best.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "fleet/placement/model.h"

namespace meridian::fleet::placement {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Slot {
  double copy_end = 0, start = 0, end = 0;
  double usd = 0;  // with the copy, if this row makes it
  bool copies = false;
};

class Schedule {
 public:
  explicit Schedule(const Model& model);
  Slot look(std::size_t row, const Option& option) const;
  void take(std::size_t row, const Option& option, const Slot& slot);
  double usd() const { return usd_; }
  double end() const { return end_; }
  bool has_copy(int copy) const { return copy_end_[static_cast<std::size_t>(copy)] >= 0; }

 private:
  const Model* model_;
  std::vector<std::vector<double>> free_at_;  // by pool: of each slot, ascending
  std::vector<double> copy_end_;              // by copy; -1 = not made
  std::vector<double> link_free_;
  double usd_ = 0, end_ = 0;
};

struct Limits {
  double deadline = kInfinite, budget = kInfinite;
  double end = kInfinite;  // as a deadline, without regard to SpotPolicy::deadline
  bool allows(const Option& option, const Slot& slot, double spent) const;
};

// Which option each row takes, and when. Less is better: first of rows that wait, then of money or
// time, then of the other.
struct Solution {
  std::vector<int> option;  // by row; -1 = waits
  std::vector<Slot> slots;
  std::vector<std::size_t> order;  // in which rows were decided
  std::size_t waiting = 0;
  double usd = 0, end = 0;
};
Solution nothing_placed(std::size_t rows);

enum class Goal { cost, time };
// By rows that wait and the goal alone; figures that differ by rounding are equal.
bool is_less(const Solution& a, const Solution& b, Goal goal);
bool is_less(double a, double b);
// By rows that wait, the goal, and the other one.
bool is_better(const Solution& a, const Solution& b, Goal goal);

}  // namespace meridian::fleet::placement
