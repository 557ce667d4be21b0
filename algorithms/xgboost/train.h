// The verb `train`: channels and hyperparameters in, /opt/ml/model/xgboost-model out.
//
// After each round a checkpoint is written; a run that finds one goes on from it. SIGTERM ends the
// training after the current round with the model as far as it is. Several instances train one
// model together; the first of them brings them together, prints and saves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json_fwd.h"
#include "xgboost/paths.h"

namespace meridian::xgboost {

// Error with a message fit for /opt/ml/output/failure.
void train(const Paths& paths);

// Whether the last value of the watched metric, the best so far and when it was say to stop.
class EarlyStopping {
 public:
  explicit EarlyStopping(int patience) : patience_(patience) {}  // 0 = never
  // `line` as libxgboost prints it; the last metric counts. True: stop.
  bool see(int round, std::string_view line);
  int best_round() const { return best_round_; }
  // To go on from a checkpoint.
  base::JsonObject state() const;
  void restore(const base::Json& state);

 private:
  int patience_, best_round_ = -1;
  double best_ = 0;
};

}  // namespace meridian::xgboost
