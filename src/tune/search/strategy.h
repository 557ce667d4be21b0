// What chooses the next configuration to try.
//
// Promise of every strategy: a proposal depends on (problem, settings, history) and on nothing
// else: not on what was asked before, not on the clock. Members are caches. A strategy made anew
// over a history that was read back continues with the same proposals.
//
// Trials that are pending are part of the history; strategies count with them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tune/space/trial.h"

namespace meridian::tune {

// What to try; the rest as in Trial.
struct Proposal {
  Point point;
  double budget = 0;
  std::optional<std::size_t> parent = {};
  std::optional<std::size_t> member = {};
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // For trial number history.size(). Nothing when the strategy is through (a grid) or waits for
  // trials to end: ask again after the next tell.
  virtual std::optional<Proposal> propose(const Problem& problem, const History& history) = 0;
};

// What streams of random numbers are for, so that no two strategies share one.
enum class Purpose : std::uint64_t {
  random = 1,
  unseen,
  sobol,
  bayesian,
  tpe,
  cma_es,
  population,
  weights,
  bracket
};

}  // namespace meridian::tune
