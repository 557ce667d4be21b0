// SPDX-License-Identifier: Apache-2.0
#include "tune/study.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "tune/strategies.h"

namespace meridian::tune {

namespace {

base::Error wrong(const std::string& what) {
  return base::Error(base::Code::invalid_argument, what);
}

}  // namespace

Study::Study(Problem problem, std::string_view strategy, History history)
    : Study(std::move(problem), make_strategy(strategy), std::move(history)) {}

Study::Study(Problem problem, std::unique_ptr<Strategy> strategy, History history)
    : problem_(std::move(problem)), strategy_(std::move(strategy)), history_(std::move(history)) {
  check();
}

void Study::check() const {
  if (problem_.directions.empty()) throw wrong("a study needs an objective");
  for (std::size_t i = 0; i < history_.size(); ++i) {
    if (!problem_.space.contains(point(i)))
      throw wrong(fmt::format("trial {} is not in the space", i));
  }
  for (std::size_t i = 0; i < history_.prior().size(); ++i) {
    const PriorTrial& trial = history_.prior()[i];
    if (!problem_.space.contains(trial.point)) {
      throw wrong(fmt::format("result {} of an earlier study is not in the space", i));
    }
    if (!trial.values.empty() && trial.values.size() != problem_.directions.size()) {
      throw wrong(fmt::format("result {} of an earlier study has {} values, not {}", i,
                              trial.values.size(), problem_.directions.size()));
    }
  }
}

std::optional<std::size_t> Study::ask() {
  auto proposal = strategy_->propose(problem_, history_);
  if (!proposal) return std::nullopt;
  Trial trial;
  trial.point = std::move(proposal->point);
  trial.budget = proposal->budget;
  trial.parent = proposal->parent;
  trial.member = proposal->member;
  return history_.add(std::move(trial));
}

void Study::report(std::size_t trial, double resource, double value) {
  if (std::isfinite(value) && std::isfinite(resource)) history_.report(trial, {resource, value});
}

std::optional<std::string> Study::find_reason_to_stop(std::size_t trial) const {
  if (!stopping_ || history_.trials().at(trial).state != TrialState::pending) return std::nullopt;
  return stopping_->find_reason(problem_, history_, trial);
}

void Study::tell(std::size_t trial, Outcome outcome) {
  if (!outcome.values.empty() && outcome.values.size() != problem_.directions.size()) {
    throw wrong(fmt::format("trial {}: {} values for {} objectives", trial, outcome.values.size(),
                            problem_.directions.size()));
  }
  if (!outcome.values.empty() && outcome.constraints.size() != problem_.constraints) {
    throw wrong(fmt::format("trial {}: {} values for {} constraints", trial,
                            outcome.constraints.size(), problem_.constraints));
  }
  history_.tell(trial, TrialState::complete, std::move(outcome.values),
                std::move(outcome.constraints), outcome.cost);
}

void Study::tell_stopped(std::size_t trial, double cost) {
  const auto& trials = history_.trials();
  std::vector<double> values;
  if (trial < trials.size() && !trials[trial].reports.empty() && problem_.directions.size() == 1) {
    values.push_back(trials[trial].reports.back().value);
  }
  history_.tell(trial, TrialState::stopped, std::move(values), {}, cost);
}

}  // namespace meridian::tune
