// What the store keeps of a log stream. The events themselves are in its file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "region/telemetry/metric_matcher.h"

namespace meridian::region::telemetry {

// What the follower found for one definition.
struct MetricProgress {
  MetricCounts counts;
  std::uint64_t segment_bytes = 0;  // of this stream's segment of the metric's series
  double last_value = 0;            // when counts.values > 0
  base::Timestamp last_at{};
};

struct StreamRecord {
  // instance: a supervisor writes the file, the follower reads it. put: events came through
  // PutLogEvents or from the platform; see put_message.h for the form of its messages.
  enum class Kind { instance, put } kind = Kind::put;
  std::string group, stream;
  std::filesystem::path file;
  base::Timestamp created{};
  std::optional<base::Timestamp> first, last;  // event times
  base::Timestamp last_ingestion{};
  std::uint64_t events = 0, bytes = 0;
  bool ordered = true;      // no event was earlier than one before it
  std::uint64_t begin = 0;  // of the file; what was before it is past its retention, and a hole

  // Of instance streams.
  std::string job, host;
  bool following = false;
  std::uint64_t offset = 0;  // read up to here
  std::vector<MetricDefinition> metrics;
  std::vector<MetricProgress> progress;  // one per definition

  void count(base::Timestamp at, std::size_t message_bytes);  // one event more
};

base::Json to_json(const StreamRecord& record);
StreamRecord parse_stream(const std::string& body, const std::string& key);

}  // namespace meridian::region::telemetry
