// The hyperparameters of SageMaker's XGBoost, checked before anything is loaded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"

namespace meridian::xgboost {

struct Hyperparameters {
  int rounds = 0;                 // num_round
  int early_stopping_rounds = 0;  // 0 = never
  bool csv_weights = false;
  std::vector<std::pair<std::string, std::string>> parameters;  // for libxgboost, in order
  std::string objective = "reg:squarederror";
};

// `sent`: hyperparameters.json. Values may be JSON-encoded strings, as SDKs send them.
// Error(invalid_argument) lists everything that is wrong; an unknown name gets a suggestion.
Hyperparameters parse_hyperparameters(const base::JsonObject& sent);

// Whether a larger value of this metric is better.
bool larger_is_better(std::string_view metric);

}  // namespace meridian::xgboost
