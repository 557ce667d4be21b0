// Reads the log files of running instances as they grow, and turns lines into metric points.
//
//   file ──slice──▶ matcher ──points──▶ segments ──then──▶ record (offset, counts, places)
//
// Exactly once: a stream's record says up to which byte its file was read and how long its segments
// were then. Points are written before the record. After kill -9 in between, the slice is read
// again and the same points land on the same places. Should segments be shorter than the record
// says (power was lost), the file is read again from its start.
//
// One thread looks at all files every 150 ms; records are saved about once a second, look-ups see
// them at once. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/sync.h"
#include "region/telemetry/log_store.h"
#include "region/telemetry/series.h"

namespace meridian::region::telemetry {

class Follower {
 public:
  // Takes up again what was followed when the last one ended.
  Follower(LogStore& logs, SeriesStore& series, const base::Clock& clock);
  ~Follower();  // saves what was read

  // From where the store's record left it, else from the start. Idempotent.
  void follow(StreamRecord wanted);
  // Reads to the end, saves, and stops following. Unknown streams are fine.
  void finish(const std::string& group, const std::string& stream);
  // Stops following without saving: the stream is being deleted.
  void drop(const std::string& group, const std::string& stream);
  void drop_group(const std::string& group);

 private:
  class Stream;
  using Key = std::pair<std::string, std::string>;  // group, stream
  void run(std::stop_token stop);
  std::shared_ptr<Stream> find(const Key& key) const;
  std::vector<std::shared_ptr<Stream>> all() const;
  void advance(Stream& stream);
  void warn_once(const StreamRecord& record, std::size_t definition, const MetricCounts& before);

  LogStore& logs_;
  SeriesStore& series_;
  const base::Clock& clock_;
  base::Sync<std::map<Key, std::shared_ptr<Stream>>> streams_;
  base::Sync<std::set<std::string>> warned_;
  base::Sync<int> pause_;
  std::jthread thread_;  // last: it uses everything above
};

// The series of a job's metric.
SeriesKey job_series(const StreamRecord& record, const std::string& metric);

}  // namespace meridian::region::telemetry
