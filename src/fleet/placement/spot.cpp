// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/spot.h"

#include <cmath>
#include <limits>

namespace meridian::fleet::placement {

double expected_hours(double work, double rate, const Checkpoints& checkpoints) {
  if (rate <= 0 || work <= 0) return work;
  const double stretch = rate * (checkpoints.every_hours + checkpoints.write_hours);
  const double hours = work / checkpoints.every_hours * std::exp(rate * checkpoints.restart_hours) *
                       std::expm1(stretch) / rate;
  return std::isfinite(hours) ? hours : std::numeric_limits<double>::infinity();
}

}  // namespace meridian::fleet::placement
