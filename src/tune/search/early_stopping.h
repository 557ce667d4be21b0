// Which running trials are not worth their resources any more.
//
// A rule looks at the reports of the first objective (space/trial.h) and decides by the history
// alone, so that a restarted controller decides alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tune/space/trial.h"

namespace meridian::tune {

class EarlyStopping {
 public:
  virtual ~EarlyStopping() = default;
  // Why the pending trial should end now; nothing to let it run.
  virtual std::optional<std::string> find_reason(const Problem& problem, const History& history,
                                                 std::size_t trial) const = 0;
};

// The median rule (Golovin et al., "Google Vizier", 2017; SageMaker's early stopping type Auto): a
// trial ends when its last value is worse than the median, over trials that completed, of the mean
// of their values up to the same resource.
struct MedianRuleSettings {
  std::size_t complete_trials = 5;  // with reports up to that resource; before that nothing ends
  double least_resource = 0;        // nothing ends before it got more than this
};
std::unique_ptr<EarlyStopping> make_median_rule(const MedianRuleSettings& settings = {});

// Asynchronous successive halving with stopping (Li et al., "A system for massively parallel
// hyperparameter tuning", 2020) in the brackets of Hyperband (Li et al. 2018). At each rung of its
// bracket, least * reduction^k, a trial goes on when it is in the best 1/reduction of all that
// reached the rung so far; and it ends at `largest`.
struct HyperbandSettings {
  double least = 1;  // resource
  double largest = 27;
  double reduction = 3;
  // One bracket, the most eager, instead of all in Hyperband's proportions: plain ASHA.
  bool single_bracket = false;
};
// Throws Error(invalid_argument) unless 0 < least <= largest and reduction > 1.
std::unique_ptr<EarlyStopping> make_halving_rule(const HyperbandSettings& settings);

// The resources at which trials of a bracket are compared; bracket 0 compares earliest.
std::vector<double> rungs_of(const HyperbandSettings& settings, std::size_t bracket);
// The bracket of a trial: fixed by its number, in the proportions of Hyperband's table.
std::size_t bracket_of(const HyperbandSettings& settings, std::uint64_t seed, std::size_t trial);

}  // namespace meridian::tune
