// Log groups and streams of a region: their records in the store, their events in files.
//
// Records of streams that are being followed are newer in memory than in the store; every look-up
// here shows the newest.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "region/telemetry/stream_record.h"
#include "store/store.h"

namespace meridian::region::telemetry {

struct GroupRecord {
  std::string name;
  base::Timestamp created{};
  std::optional<std::int64_t> retention_days;
};

struct PutEvent {
  base::Timestamp at{};
  std::string message;
};

class LogStore {
 public:
  // prefix: of the store's keys, ends with '/'.
  LogStore(store::Store& store, const base::Clock& clock, std::string prefix,
           std::filesystem::path directory);

  std::filesystem::path file_of(const std::string& group, const std::string& stream) const;

  // Groups.
  bool create_group(const std::string& group);  // false: it exists
  void ensure_group(const std::string& group);
  std::optional<GroupRecord> find_group(const std::string& group) const;
  bool set_retention(const std::string& group, std::optional<std::int64_t> days);
  bool remove_group(const std::string& group);  // with its streams and files
  std::vector<GroupRecord> groups(const std::string& prefix, std::size_t limit,
                                  std::string& token) const;  // token: in, then the next page's

  // Streams.
  bool create_stream(const StreamRecord& record);  // false: it exists
  std::optional<StreamRecord> find_stream(const std::string& group,
                                          const std::string& stream) const;
  void save(const StreamRecord& record);        // to the store
  void show_newer(const StreamRecord& record);  // to look-ups only, until saved or hidden
  void hide_newer(const StreamRecord& record);
  bool remove_stream(const std::string& group, const std::string& stream);  // with its file
  struct StreamQuery {
    std::string group, prefix;
    enum class Order { by_name, by_last_event } order = Order::by_name;
    enum class Direction { ascending, descending } direction = Direction::ascending;
    std::size_t limit = 50;
    std::string token;
  };
  std::vector<StreamRecord> streams(const StreamQuery& query, std::string& next_token) const;
  std::vector<StreamRecord> streams_of_job(const std::string& job) const;
  std::vector<StreamRecord> followed() const;  // by the records in the store

  // Takes away the events that are older than their group keeps them, of streams that nobody
  // follows any more. The streams stay, as on AWS. Blocking: reads what it takes away.
  void expire(std::stop_token stop);

  // Appends to a put stream, made if need be. One write: all of it or a torn end that the next
  // append removes.
  void append(const std::string& group, const std::string& stream,
              const std::vector<PutEvent>& events);

 private:
  std::string group_key(const std::string& group) const;
  std::string stream_key(const std::string& group, const std::string& stream) const;
  void expire_stream(const std::string& group, const std::string& stream, base::Timestamp keep);
  store::Write write_of(const StreamRecord& record, std::optional<store::Revision> expect) const;
  StreamRecord newest(const store::Document& document) const;
  std::vector<StreamRecord> all(store::ListQuery query) const;

  store::Store& store_;
  const base::Clock& clock_;
  std::string prefix_;
  std::filesystem::path directory_;
  base::Sync<std::map<std::string, StreamRecord>> newer_;  // by key
  base::Sync<int> append_lock_;
};

}  // namespace meridian::region::telemetry
