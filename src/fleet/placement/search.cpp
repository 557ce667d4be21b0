// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/search.h"

#include <algorithm>
#include <cmath>

namespace meridian::fleet::placement {
namespace {

class Search {
 public:
  Search(const Model& model, Goal goal, const Limits& limits, Solution start, long nodes)
      : model_(model),
        goal_(goal),
        limits_(limits),
        // Without a deadline no order costs less than another: rows go in one order.
        ordered_(goal == Goal::cost && std::isinf(std::min(limits.deadline, limits.end))),
        nodes_(nodes),
        best_(std::move(start)),
        now_(nothing_placed(model.options.size())) {}

  Searched run() {
    visit(Schedule(model_), 0);
    return {std::move(best_), nodes_ > 0};
  }

 private:
  struct Step {
    std::size_t row;
    int option;
    Slot slot;
    bool moves_alone;  // takes no copy and waits for none
  };

  bool is_open(std::size_t row, std::size_t from) const {
    return now_.option[row] < 0 && row >= from && !model_.options[row].empty();
  }

  // What may still come of this node is no better than what is known.
  bool is_hopeless(const Schedule& schedule, std::size_t from) const {
    Solution bound{.waiting = 0, .usd = schedule.usd(), .end = schedule.end()};
    for (std::size_t row = 0; row < model_.options.size(); ++row) {
      if (now_.option[row] >= 0) continue;
      double usd = kInfinite, end = kInfinite;
      if (is_open(row, from)) {
        for (const Option& option : model_.options[row]) {
          Slot slot = schedule.look(row, option);
          slot.usd = option.usd();  // another may make the copy
          if (!limits_.allows(option, slot, schedule.usd())) continue;
          usd = std::min(usd, slot.usd);
          end = std::min(end, slot.end);
        }
      }
      if (std::isinf(end)) {
        ++bound.waiting;
      } else {
        bound.usd += usd;
        bound.end = std::max(bound.end, end);
      }
    }
    return !is_less(bound, best_, goal_);
  }

  // Two steps that do not touch each other give the same in both orders: only one is looked at.
  bool repeats(const Step& step) const {
    if (now_.order.empty() || ordered_) return false;
    const std::size_t before = now_.order.back();
    const Option& option = model_.options[before][static_cast<std::size_t>(now_.option[before])];
    return step.moves_alone && option.copy < 0 && step.row < before &&
           model_.options[step.row][static_cast<std::size_t>(step.option)].pool != option.pool;
  }

  std::vector<Step> steps(const Schedule& schedule, std::size_t from) const {
    std::vector<Step> out;
    for (std::size_t row = from; row < model_.options.size(); ++row) {
      if (!is_open(row, from)) continue;
      const auto& options = model_.options[row];
      for (std::size_t i = 0; i < options.size(); ++i) {
        const Slot slot = schedule.look(row, options[i]);
        if (!limits_.allows(options[i], slot, schedule.usd())) continue;
        const Step step{row, static_cast<int>(i), slot, options[i].copy < 0};
        if (!repeats(step)) out.push_back(step);
      }
    }
    std::ranges::stable_sort(out, [this](const Step& a, const Step& b) {
      if (ordered_ && a.row != b.row) return a.row < b.row;
      return goal_ == Goal::cost ? a.slot.usd < b.slot.usd : a.slot.end < b.slot.end;
    });
    return out;
  }

  void visit(const Schedule& schedule, std::size_t from) {
    if (--nodes_ <= 0) return;
    now_.usd = schedule.usd();
    now_.end = schedule.end();
    if (is_less(now_, best_, goal_)) best_ = now_;  // the rest waits
    if (is_hopeless(schedule, from)) return;
    for (const Step& step : steps(schedule, from)) {
      Schedule next = schedule;
      const auto& option = model_.options[step.row][static_cast<std::size_t>(step.option)];
      next.take(step.row, option, step.slot);
      now_.option[step.row] = step.option;
      now_.slots[step.row] = step.slot;
      now_.order.push_back(step.row);
      --now_.waiting;
      visit(next, ordered_ ? step.row + 1 : 0);
      now_.option[step.row] = -1;
      now_.order.pop_back();
      ++now_.waiting;
      if (nodes_ <= 0) return;
    }
  }

  const Model& model_;
  const Goal goal_;
  const Limits limits_;
  const bool ordered_;
  long nodes_;
  Solution best_, now_;
};

}  // namespace

Searched search(const Model& model, Goal goal, const Limits& limits, Solution start, long nodes) {
  return Search(model, goal, limits, std::move(start), nodes).run();
}

}  // namespace meridian::fleet::placement
