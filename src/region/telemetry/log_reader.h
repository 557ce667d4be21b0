// Events of one stream's file, forwards and backwards, within bounds.
//
// Places are byte offsets at which a record begins (or the end of the last one): they stay valid,
// because files only grow; what is before the stream's begin is passed over. Reading never waits; a
// torn end is left alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "region/telemetry/stream_record.h"

namespace meridian::region::telemetry {

struct LogEvent {
  base::Timestamp at{}, ingested{};
  std::string message;
  std::uint64_t offset = 0;
};

struct EventBounds {
  base::Timestamp from{std::numeric_limits<std::int64_t>::min()};  // from <= at < to
  base::Timestamp to{std::numeric_limits<std::int64_t>::max()};
  std::size_t events = 10'000;
  // cloudwatch: control characters of program output as #011, valid UTF-8. raw: as written.
  enum class Face { cloudwatch, raw } face = Face::cloudwatch;
  std::size_t bytes =
      1u << 20;  // of messages, each with 26 bytes of its own; one event always fits
};

struct EventSlice {
  std::vector<LogEvent> events;  // in the file's order
  std::uint64_t begin = 0, end = 0;
  bool more = false;  // stopped at a bound, not at the file's end (or start)
};

// Events from `offset` on; `end` is where to go on.
EventSlice read_events(const StreamRecord& stream, std::uint64_t offset, const EventBounds& bounds);
// The last events that end at or before `offset`; `begin` is where to go on backwards.
EventSlice read_events_before(const StreamRecord& stream, std::uint64_t offset,
                              const EventBounds& bounds);
// The end of the last whole record.
std::uint64_t end_of_events(const StreamRecord& stream);
// Where the first event with at >= from can be: an offset with none of them before it.
std::uint64_t find_time(const StreamRecord& stream, base::Timestamp from);

}  // namespace meridian::region::telemetry
