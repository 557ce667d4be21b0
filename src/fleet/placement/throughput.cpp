// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/throughput.h"

#include <algorithm>
#include <cmath>

namespace meridian::fleet::placement {

double allreduce_seconds(int n, const StepModel& model) {
  if (n <= 1) return 0;
  const double transfer = model.gradient_megabytes / model.megabytes_per_second;
  const double rounds = std::ceil(std::log2(n));
  const double ring = 2.0 * (n - 1) * model.latency_seconds + 2.0 * (n - 1) / n * transfer;
  const double doubling = rounds * (model.latency_seconds + transfer);
  return std::min(ring, doubling);
}

double model_rate(int instances, const StepModel& model) {
  const double step = model.batch / model.images_per_second + allreduce_seconds(instances, model);
  return instances * model.batch / step;
}

std::optional<Prediction> predict(const std::vector<Measured>& history, const StepModel* model,
                                  const std::string& type, int instances) {
  for (auto entry = history.rbegin(); entry != history.rend(); ++entry) {
    if (entry->type == type && entry->instances == instances && entry->images_per_second > 0)
      return Prediction{entry->images_per_second, Prediction::Source::measured};
  }
  if (model == nullptr || model->images_per_second <= 0 || model->batch <= 0) return std::nullopt;
  return Prediction{model_rate(instances, *model), Prediction::Source::model};
}

}  // namespace meridian::fleet::placement
