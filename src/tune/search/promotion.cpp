// SPDX-License-Identifier: Apache-2.0
#include "tune/search/promotion.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tune/search/designs.h"

namespace meridian::tune {

namespace {

class Promotion final : public Strategy {
 public:
  Promotion(const HyperbandSettings& settings, std::unique_ptr<Strategy> source)
      : settings_(settings), source_(source ? std::move(source) : make_random()) {
    make_halving_rule(settings);  // checks them
    budgets_ = rungs_of(settings_, 0);
    budgets_.push_back(settings_.largest);
  }

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    std::set<std::size_t> promoted;
    for (const Trial& trial : history.trials()) {
      if (trial.parent) promoted.insert(*trial.parent);
    }
    for (std::size_t rung = budgets_.size() - 1; rung-- > 0;) {
      if (const auto parent = find_promotable(problem, history, budgets_[rung], promoted)) {
        return Proposal{history.trials()[*parent].point, budgets_[rung + 1], parent};
      }
    }
    auto proposal = source_->propose(problem, comparable(history));
    if (proposal) proposal->budget = budgets_[0];
    return proposal;
  }

 private:
  std::vector<std::size_t> complete_at(const History& history, double budget) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < history.size(); ++i) {
      const Trial& trial = history.trials()[i];
      if (trial.budget == budget && trial.state == TrialState::complete) out.push_back(i);
    }
    return out;
  }

  std::optional<std::size_t> find_promotable(const Problem& problem, const History& history,
                                             double budget,
                                             const std::set<std::size_t>& promoted) const {
    std::vector<std::size_t> rung = complete_at(history, budget);
    std::ranges::stable_sort(rung, {}, [&](std::size_t i) {
      return loss(history.trials()[i].values[0], problem.directions[0]);
    });
    rung.resize(static_cast<std::size_t>(static_cast<double>(rung.size()) / settings_.reduction));
    for (const std::size_t i : rung) {
      if (!promoted.contains(i)) return i;
    }
    return std::nullopt;
  }

  // The history as the source sees it: values of other rungs than one are left out, the trials
  // count as seen.
  History comparable(const History& history) const {
    double chosen = budgets_[0];
    for (const double budget : budgets_) {
      if (complete_at(history, budget).size() >= 8) chosen = budget;
    }
    History out(history.prior());
    for (const Trial& trial : history.trials()) {
      Trial copy;
      copy.point = trial.point;
      out.add(std::move(copy));
    }
    for (const std::size_t number : history.order()) {
      const Trial& trial = history.trials()[number];
      if (trial.budget == chosen || trial.state == TrialState::failed) {
        out.tell(number, trial.state, trial.values, trial.constraints, trial.cost);
      }
    }
    return out;
  }

  HyperbandSettings settings_;
  std::unique_ptr<Strategy> source_;
  std::vector<double> budgets_;
};

}  // namespace

std::unique_ptr<Strategy> make_promotion(const HyperbandSettings& settings,
                                         std::unique_ptr<Strategy> source) {
  return std::make_unique<Promotion>(settings, std::move(source));
}

}  // namespace meridian::tune
