// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/schedule.h"

#include <algorithm>
#include <cmath>

namespace meridian::fleet::placement {

Schedule::Schedule(const Model& model)
    : model_(&model),
      copy_end_(model.copies.size(), -1),
      link_free_(model.problem.links.size(), 0) {
  for (const int slots : model.slots) free_at_.emplace_back(static_cast<std::size_t>(slots), 0.0);
}

Slot Schedule::look(std::size_t row, const Option& option) const {
  Slot slot{.usd = option.usd()};
  if (option.copy >= 0) {
    const auto index = static_cast<std::size_t>(option.copy);
    const Copy& copy = model_->copies[index];
    slot.copies = copy_end_[index] < 0;
    slot.copy_end = slot.copies ? link_free_[static_cast<std::size_t>(copy.link)] + copy.hours
                                : copy_end_[index];
    if (slot.copies) slot.usd += copy.usd;
  }
  const auto& free_at = free_at_[static_cast<std::size_t>(option.pool)];
  slot.start = std::max(slot.copy_end, free_at[static_cast<std::size_t>(model_->gangs[row]) - 1]);
  slot.end = slot.start + option.hours;
  return slot;
}

void Schedule::take(std::size_t row, const Option& option, const Slot& slot) {
  if (slot.copies) {
    const auto index = static_cast<std::size_t>(option.copy);
    copy_end_[index] = slot.copy_end;
    link_free_[static_cast<std::size_t>(model_->copies[index].link)] = slot.copy_end;
  }
  // The slots that were free last keep the early ones for others.
  auto& free_at = free_at_[static_cast<std::size_t>(option.pool)];
  const auto gang = model_->gangs[row];
  const auto last = std::upper_bound(free_at.begin(), free_at.end(), slot.start);
  const auto behind = std::upper_bound(last, free_at.end(), slot.end);
  const auto kept = std::move(last, behind, last - gang);
  std::fill(kept, behind, slot.end);
  usd_ += slot.usd;
  end_ = std::max(end_, slot.end);
}

bool is_less(double a, double b) {
  return a < b - 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

bool Limits::allows(const Option& option, const Slot& slot, double spent) const {
  return !is_less(deadline, slot.start + option.need) && !is_less(end, slot.end) &&
         !is_less(budget, spent + slot.usd);
}

Solution nothing_placed(std::size_t rows) {
  return {.option = std::vector<int>(rows, -1), .slots = std::vector<Slot>(rows), .waiting = rows};
}

bool is_less(const Solution& a, const Solution& b, Goal goal) {
  if (a.waiting != b.waiting) return a.waiting < b.waiting;
  return goal == Goal::cost ? is_less(a.usd, b.usd) : is_less(a.end, b.end);
}

bool is_better(const Solution& a, const Solution& b, Goal goal) {
  if (is_less(a, b, goal)) return true;
  if (is_less(b, a, goal)) return false;
  return is_less(a, b, goal == Goal::cost ? Goal::time : Goal::cost);
}

}  // namespace meridian::fleet::placement
