// SPDX-License-Identifier: Apache-2.0
#include "tune/bayes/trust_region.h"

#include <algorithm>
#include <cmath>

namespace meridian::tune {

double trust_length(std::span<const double> losses, std::size_t coordinates,
                    const TrustRegionSettings& settings) {
  double length = settings.first;
  double best = losses.empty() ? 0 : losses[0], worst = best;
  int successes = 0;
  std::size_t failures = 0;
  const std::size_t patience = std::max(settings.failures, coordinates);
  for (const double loss : losses) {
    worst = std::max(worst, loss);
    // Less than a hundred-thousandth of the spread seen so far is no progress.
    if (loss < best - 1e-5 * (worst - best)) {
      ++successes;
      failures = 0;
    } else {
      ++failures;
      successes = 0;
    }
    best = std::min(best, loss);
    if (successes == settings.successes) {
      length = std::min(2 * length, settings.largest);
      successes = 0;
    } else if (failures == patience) {
      length /= 2;
      failures = 0;
    }
    if (length < settings.smallest) length = settings.first;
  }
  return length;
}

Box trust_box(std::span<const double> centre, std::span<const double> scales, double length) {
  double log_sum = 0;
  for (std::size_t d = 0; d < centre.size(); ++d) log_sum += std::log(scales[d]);
  const double mean = std::exp(log_sum / static_cast<double>(centre.size()));
  Box box;
  for (std::size_t d = 0; d < centre.size(); ++d) {
    const double half = 0.5 * length * std::clamp(scales[d] / mean, 0.1, 10.0);
    box.lower.push_back(std::clamp(centre[d] - half, 0.0, 1.0));
    box.upper.push_back(std::clamp(centre[d] + half, 0.0, 1.0));
  }
  return box;
}

}  // namespace meridian::tune
