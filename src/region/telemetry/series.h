// Metric time series: append-only segments on disk, their names in the store.
//
// A series is a namespace, a name and dimensions. Its segments lie in <directory>/<id>/, one per
// source, and have one writer each:
//   * <stream>.points: written by the follower of a log stream at a place that it remembers. What
//     is read again after a crash is written to the same place again, so nothing doubles.
//   * put.points: values that were put.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/sync.h"
#include "region/telemetry/point.h"
#include "store/store.h"

namespace meridian::region::telemetry {

using Dimensions = std::map<std::string, std::string>;

struct SeriesKey {
  std::string name_space, name;
  Dimensions dimensions;

  std::string id() const;  // 32 hex digits
};

class SeriesStore {
 public:
  // prefix: of the store's keys, ends with '/'.
  SeriesStore(store::Store& store, std::string prefix, std::filesystem::path directory);

  // Writes points at `place` (bytes) of the source's segment; returns the place after them.
  // A failed write throws and leaves everything before `place` as it was.
  std::uint64_t write(const SeriesKey& key, const std::string& source, std::uint64_t place,
                      const std::vector<Point>& points);
  std::uint64_t segment_bytes(const SeriesKey& key, const std::string& source) const;
  void append(const SeriesKey& key, const std::vector<Point>& points);  // to put.points
  // Takes away segments without a point at or after `keep`, and series without segments.
  void expire(base::Timestamp keep, std::stop_token stop);
  // All points with from <= at < to, by time.
  std::vector<Point> read(const SeriesKey& key, base::Timestamp from, base::Timestamp to) const;

  struct Filter {
    std::string name_space, name;  // empty: any
    // Each must be among the dimensions; with no value, any value.
    std::vector<std::pair<std::string, std::optional<std::string>>> dimensions;
  };
  struct Listing {
    std::vector<SeriesKey> series;
    std::string next_token;
  };
  // Up to `limit` series; a page may be short and still have a next one.
  Listing list(const Filter& filter, const std::string& token, std::size_t limit) const;

 private:
  std::filesystem::path segment(const SeriesKey& key, const std::string& source) const;
  void expire_series(const SeriesKey& key, base::Timestamp keep);
  void declare(const SeriesKey& key);  // durable before its first point

  store::Store& store_;
  std::string prefix_;
  std::filesystem::path directory_;
  base::Sync<std::set<std::string>> declared_;
  base::Sync<int> put_lock_;  // put.points have one writer at a time
};

}  // namespace meridian::region::telemetry
