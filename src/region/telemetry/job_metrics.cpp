// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/job_metrics.h"

#include <algorithm>

namespace meridian::region::telemetry {
namespace {

void add_counts(MetricCounts& to, const MetricCounts& from) {
  if (to.text_example.empty()) to.text_example = from.text_example;
  if (to.not_finite_example.empty()) to.not_finite_example = from.not_finite_example;
  if (to.partial_whole.empty()) {
    to.partial_example = from.partial_example;
    to.partial_whole = from.partial_whole;
  }
  to.values += from.values;
  to.texts += from.texts;
  to.partial += from.partial;
  to.not_finite += from.not_finite;
  to.too_expensive += from.too_expensive;
  to.other_group += from.other_group;
}

}  // namespace

std::vector<MetricValue> final_metrics(const std::vector<StreamRecord>& streams) {
  std::vector<MetricValue> out;
  for (const auto& stream : streams)
    for (std::size_t i = 0; i < stream.metrics.size(); ++i) {
      const MetricProgress& progress = stream.progress.at(i);
      if (progress.counts.values == 0) continue;
      const MetricValue value{stream.metrics[i].name, progress.last_value, progress.last_at};
      const auto same =
          std::find_if(out.begin(), out.end(), [&](const auto& v) { return v.name == value.name; });
      if (same == out.end()) {
        out.push_back(value);
      } else if (value.at >= same->at) {
        *same = value;
      }
    }
  return out;
}

DoctorCase summarize(const std::vector<StreamRecord>& streams) {
  DoctorCase out;
  for (const auto& stream : streams) {
    out.lines_read += stream.events;
    for (std::size_t i = 0; i < stream.metrics.size(); ++i) {
      const MetricDefinition& definition = stream.metrics[i];
      auto same = std::find_if(out.patients.begin(), out.patients.end(), [&](const auto& patient) {
        return patient.definition.name == definition.name &&
               patient.definition.regex == definition.regex;
      });
      if (same == out.patients.end())
        same = out.patients.insert(out.patients.end(), {definition, {}});
      add_counts(same->counts, stream.progress.at(i).counts);
    }
  }
  return out;
}

}  // namespace meridian::region::telemetry
