// One search: asks a strategy what to try, is told what came out.
//
//   Study study({.space = space, .directions = {Direction::maximize}, .seed = 7}, "Bayesian");
//   while (auto trial = study.ask()) {
//     study.tell(*trial, {.values = {run(study.point(*trial))}});
//   }
//   study.best();
//
// Promises:
//   1. Seed and history determine what comes next. A study made from the history of another
//      continues as that one would have, whatever was asked in which batches before.
//   2. A point is never proposed twice while one remains that was not (strategies that continue a
//      trial from its checkpoint apart).
//   3. Trials may be told in any order, while others are pending; a trial ends exactly once.
//   4. A value that is not finite ends its trial as failed (space/trial.h).
//
// No clock, no threads, no I/O. One thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tune/search/early_stopping.h"
#include "tune/search/strategy.h"

namespace meridian::tune {

struct Outcome {
  std::vector<double> values = {};       // of the objectives; empty: failed
  std::vector<double> constraints = {};  // <= 0 is satisfied
  double cost = 0;
};

class Study {
 public:
  // Throws Error(invalid_argument) for an unknown strategy name (strategies.h lists them), for a
  // problem without objective, and for prior or past points that are not in the space.
  Study(Problem problem, std::string_view strategy, History history = History());
  Study(Problem problem, std::unique_ptr<Strategy> strategy, History history = History());

  // The number of a new pending trial. Nothing when the strategy is through or waits for others.
  std::optional<std::size_t> ask();

  // An intermediate value; ignored when it is not finite.
  void report(std::size_t trial, double resource, double value);
  // Why this pending trial should end now, by the stopping rule; nothing to let it run.
  std::optional<std::string> find_reason_to_stop(std::size_t trial) const;
  void use_early_stopping(std::unique_ptr<EarlyStopping> rule) { stopping_ = std::move(rule); }

  // Throws Error(invalid_argument) when the number of values or constraints is not the problem's.
  void tell(std::size_t trial, Outcome outcome);
  // Ended on our advice: its last report stands for its value. Failed when it had none.
  void tell_stopped(std::size_t trial, double cost = 0);

  const Problem& problem() const { return problem_; }
  const History& history() const { return history_; }
  const Point& point(std::size_t trial) const { return history_.trials().at(trial).point; }
  std::optional<std::size_t> best() const { return find_best(problem_, history_); }

 private:
  void check() const;

  Problem problem_;
  std::unique_ptr<Strategy> strategy_;
  History history_;
  std::unique_ptr<EarlyStopping> stopping_;
};

}  // namespace meridian::tune
