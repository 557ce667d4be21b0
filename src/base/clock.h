// Time as Meridian sees it: injected, so that the whole control plane runs under virtual time.
//
// Two kinds of time, never mixed: Timestamp is wall time (UTC, milliseconds: what records store and
// people read); Ticks is monotonic time (what durations, bills and timeouts are measured with).
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"

namespace meridian::base {

using Duration = std::chrono::milliseconds;

// Milliseconds since 1970-01-01T00:00:00Z.
struct Timestamp {
  std::int64_t ms = 0;
  auto operator<=>(const Timestamp&) const = default;
  Timestamp operator+(Duration d) const { return {ms + d.count()}; }
  Timestamp operator-(Duration d) const { return {ms - d.count()}; }
  Duration operator-(Timestamp other) const { return Duration(ms - other.ms); }
  double seconds() const { return static_cast<double>(ms) / 1000.0; }
};

// Milliseconds since an arbitrary start; survives clock jumps, not reboots.
struct Ticks {
  std::int64_t ms = 0;
  auto operator<=>(const Ticks&) const = default;
  Ticks operator+(Duration d) const { return {ms + d.count()}; }
  Duration operator-(Ticks other) const { return Duration(ms - other.ms); }
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
  virtual Ticks ticks() const = 0;
};

// The machine's clocks.
class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  Ticks ticks() const override;
};

// Moves only when told to. For tests and the simulator.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = {1'700'000'000'000}) : now_(start) {}
  Timestamp now() const override;
  Ticks ticks() const override;
  void advance(Duration by);          // both clocks
  void jump_wall_clock(Duration by);  // wall time only, as an operator's `date -s` does

 private:
  mutable std::mutex mutex_;
  Timestamp now_;
  Ticks ticks_{};
};

std::string format_iso8601(Timestamp t);          // 2026-01-31T12:00:00.000Z
std::string format_iso8601_seconds(Timestamp t);  // 2026-01-31T12:00:00Z
std::string format_amz_date(Timestamp t);         // 20260131T120000Z
std::string format_http_date(Timestamp t);        // Sat, 31 Jan 2026 12:00:00 GMT (RFC 9110 §5.6.7)
// Accepts the ISO forms with or without fraction, `Z` or ±hh:mm, and 20260131T120000Z.
Result<Timestamp> parse_iso8601(std::string_view text);
Result<Timestamp> parse_http_date(std::string_view text);
// "1h02m", "3m07s", "8.2s": for people.
std::string format_duration(Duration d);

}  // namespace meridian::base
