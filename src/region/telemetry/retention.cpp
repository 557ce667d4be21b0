// What is too old goes: the sweeps of LogStore and SeriesStore.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/file.h"
#include "region/telemetry/log_reader.h"
#include "region/telemetry/log_store.h"
#include "region/telemetry/series.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kPage = 500;

// Moves the stream's begin past its first events, up to one that is to be kept.
void pass_over(StreamRecord& record, base::Timestamp keep) {
  const std::uint64_t end = end_of_events(record);
  record.first.reset();
  while (record.begin < end) {
    const auto slice = run::read_log_file(record.file, record.begin);
    if (slice.next_offset == record.begin) return;
    for (const auto& event : slice.records) {
      if (event.at >= keep) {
        record.first = event.at;
        record.begin = event.offset;
        return;
      }
      record.events -= std::min<std::uint64_t>(record.events, 1);
      record.bytes -= std::min<std::uint64_t>(record.bytes, event.message.size() + 26);
    }
    record.begin = slice.next_offset;
  }
  record.events = record.bytes = 0;
}

constexpr base::Timestamp kEver{std::numeric_limits<std::int64_t>::max()};

// Segments are mostly in order: the last record says it without reading the others.
bool ends_at_or_after(const std::filesystem::path& segment, base::Timestamp keep) {
  const base::UniqueFd fd(::open(segment.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = fd ? ::lseek(fd.get(), 0, SEEK_END) : 0;
  const auto last = size - size % static_cast<off_t>(point_bytes);
  std::string record(point_bytes, '\0');
  std::vector<Point> points;
  if (last == 0 ||
      ::pread(fd.get(), record.data(), record.size(), last - static_cast<off_t>(point_bytes)) !=
          static_cast<ssize_t>(point_bytes))
    return false;
  decode_points(record, keep, kEver, points);
  return !points.empty();
}

bool has_point_since(const std::filesystem::path& segment, base::Timestamp keep) {
  if (ends_at_or_after(segment, keep)) return true;
  std::vector<Point> kept;
  decode_points(base::read_file_if_exists(segment, 1u << 30), keep, kEver, kept);
  return !kept.empty();
}

// The bytes become a hole, so that places in the file stay what they are.
void free_space(const StreamRecord& record) {
  const base::UniqueFd fd(::open(record.file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return;
  // A file system that has no holes keeps the bytes; nobody reads them any more.
  (void)::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    static_cast<off_t>(record.begin));
}

}  // namespace

void LogStore::expire_stream(const std::string& group, const std::string& stream,
                             base::Timestamp keep) {
  auto guard = append_lock_.lock();
  auto record = find_stream(group, stream);
  if (!record || record->following || !record->first || *record->first >= keep) return;
  const std::uint64_t before = record->begin;
  pass_over(*record, keep);
  if (record->begin == before) return;
  save(*record);  // first: a hole that is still read would look like damage
  free_space(*record);
}

void LogStore::expire(std::stop_token stop) {
  std::string token;
  do {
    for (const GroupRecord& group : groups("", kPage, token)) {
      if (!group.retention_days) continue;
      const base::Timestamp keep = clock_.now() - base::Duration(*group.retention_days * kDayMs);
      for (const StreamRecord& stream : all({.prefix = stream_key(group.name, "")})) {
        if (stop.stop_requested()) return;
        expire_stream(group.name, stream.stream, keep);
      }
    }
  } while (!token.empty());
}

void SeriesStore::expire_series(const SeriesKey& key, base::Timestamp keep) {
  const auto directory = segment(key, "put").parent_path();
  std::error_code ignored;
  bool any_left = false;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const bool kept = has_point_since(entry.path(), keep);
    any_left |= kept;
    if (!kept) std::filesystem::remove(entry.path(), ignored);
  }
  if (any_left) return;
  auto declared = declared_.lock();
  declared->erase(key.id());
  (void)store_.commit({store::remove(prefix_ + key.id())});
}

void SeriesStore::expire(base::Timestamp keep, std::stop_token stop) {
  std::string token;
  do {
    Listing page = list({}, token, kPage);
    for (const SeriesKey& key : page.series) {
      if (stop.stop_requested()) return;
      // A writer of put.points must not find its file gone between two looks at it.
      auto guard = put_lock_.lock();
      expire_series(key, keep);
    }
    token = std::move(page.next_token);
  } while (!token.empty());
}

}  // namespace meridian::region::telemetry
