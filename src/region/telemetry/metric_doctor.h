// Why a metric definition found nothing in a job's output, in words that help. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "region/telemetry/metric_matcher.h"

namespace meridian::region::telemetry {

struct DoctorCase {
  struct Patient {
    MetricDefinition definition;
    MetricCounts counts;  // of all hosts together
  };
  std::vector<Patient> patients;
  std::uint64_t lines_read = 0;
  std::vector<std::string> sample;  // raw lines of the program's output
};

// One paragraph per definition without a value; nothing when each has one.
std::optional<std::string> diagnose(const DoctorCase& job);

}  // namespace meridian::region::telemetry
