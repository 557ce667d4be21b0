// What the streams of one job say about its metrics, all hosts together. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "region/telemetry/metric_doctor.h"
#include "region/telemetry/stream_record.h"
#include "region/telemetry/telemetry.h"

namespace meridian::region::telemetry {

// The last value of each definition by the time of its record; of two hosts at the same time, the
// later stream's. In the order of the definitions.
std::vector<MetricValue> final_metrics(const std::vector<StreamRecord>& streams);

// The definitions with their counts, and the number of lines; without a sample.
DoctorCase summarize(const std::vector<StreamRecord>& streams);

}  // namespace meridian::region::telemetry
