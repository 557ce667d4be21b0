// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/strings.h"
#include "region/telemetry/put_message.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t event_overhead = 26;
constexpr std::size_t chunk_bytes = 1u << 20;  // holds the longest record
constexpr std::size_t probe_bytes = 512u << 10;

std::uint64_t size_of(const std::filesystem::path& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::string read_piece(const std::filesystem::path& path, std::uint64_t from, std::size_t bytes) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return "";
  std::string out(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t n =
        ::pread(fd.get(), out.data() + have, bytes - have, static_cast<off_t>(from + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw base::errno_error(errno, "read " + path.string());
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return out;
}

// The end of the last newline in [from, to), or nothing.
std::optional<std::uint64_t> last_line_end(const std::filesystem::path& path, std::uint64_t from,
                                           std::uint64_t to) {
  const std::string piece = read_piece(path, from, to - from);
  const std::size_t at = piece.rfind('\n');
  if (at == std::string::npos) return std::nullopt;
  return from + at + 1;
}

// The first record that begins at or behind `offset`, if within reach.
std::optional<std::uint64_t> next_record(const std::filesystem::path& path, std::uint64_t offset) {
  if (offset == 0) return 0;
  const std::string piece = read_piece(path, offset - 1, chunk_bytes);
  const std::size_t at = piece.find('\n');
  if (at == std::string::npos) return std::nullopt;
  return offset - 1 + at + 1;
}

LogEvent make_event(const StreamRecord& stream, run::LogRecord& record, EventBounds::Face face) {
  const bool raw = face == EventBounds::Face::raw;
  if (stream.kind == StreamRecord::Kind::put) {
    PutMessage put = decode_put_message(record.message);
    return {record.at, put.ingested, std::move(put.message), record.offset};
  }
  return {record.at, record.at,
          raw ? std::move(record.message) : base::to_valid_utf8(escape_control(record.message)),
          record.offset};
}

// No more than what can be of use: reading costs its whole buffer.
run::LogSlice read_piece_of(const StreamRecord& stream, std::uint64_t offset, std::uint64_t size,
                            std::size_t wanted) {
  const auto bytes = std::min<std::uint64_t>({size - offset, chunk_bytes, wanted});
  run::LogSlice slice = run::read_log_file(stream.file, offset, bytes);
  if (slice.next_offset > offset || bytes == chunk_bytes) return slice;
  return run::read_log_file(stream.file, offset, chunk_bytes);  // one long record
}

bool within(base::Timestamp at, const EventBounds& bounds) {
  return at >= bounds.from && at < bounds.to;
}

// Events of the whole records in [from, to), newest last.
std::vector<LogEvent> events_between(const StreamRecord& stream, std::uint64_t from,
                                     std::uint64_t to, const EventBounds& bounds) {
  std::vector<LogEvent> out;
  run::LogSlice slice = run::read_log_file(stream.file, from, to - from);
  for (auto& record : slice.records)
    if (record.offset < to && within(record.at, bounds))
      out.push_back(make_event(stream, record, bounds.face));
  return out;
}

}  // namespace

EventSlice read_events(const StreamRecord& stream, std::uint64_t offset,
                       const EventBounds& bounds) {
  EventSlice out;
  out.begin = out.end = std::max(offset, stream.begin);
  std::size_t bytes = 0;
  while (true) {
    const std::uint64_t size = size_of(stream.file);
    if (out.end >= size) break;
    run::LogSlice slice = read_piece_of(stream, out.end, size, bounds.bytes);
    if (slice.next_offset == out.end) break;
    for (auto& record : slice.records) {
      if (!within(record.at, bounds)) continue;
      LogEvent event = make_event(stream, record, bounds.face);
      const std::size_t size = event.message.size() + event_overhead;
      if (out.events.size() >= bounds.events || (bytes + size > bounds.bytes && bytes > 0)) {
        out.more = true;
        out.end = event.offset;
        return out;
      }
      bytes += size;
      out.events.push_back(std::move(event));
    }
    out.end = slice.next_offset;
  }
  return out;
}

EventSlice read_events_before(const StreamRecord& stream, std::uint64_t offset,
                              const EventBounds& bounds) {
  EventSlice out;
  out.begin = out.end = offset;
  std::size_t bytes = 0;
  while (out.begin > stream.begin) {
    const std::uint64_t left = out.begin - stream.begin;
    const auto start =
        left <= chunk_bytes
            ? stream.begin
            : next_record(stream.file, out.begin - chunk_bytes).value_or(stream.begin);
    auto events = events_between(stream, start, out.begin, bounds);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      const std::size_t size = event->message.size() + event_overhead;
      if (out.events.size() >= bounds.events || (bytes + size > bounds.bytes && bytes > 0)) {
        out.more = true;
        std::reverse(out.events.begin(), out.events.end());
        return out;
      }
      bytes += size;
      out.begin = event->offset;
      out.events.push_back(std::move(*event));
    }
    out.begin = start;
  }
  std::reverse(out.events.begin(), out.events.end());
  return out;
}

std::uint64_t end_of_events(const StreamRecord& stream) {
  std::uint64_t end = size_of(stream.file);
  while (end > stream.begin) {
    const std::uint64_t from = end - stream.begin > probe_bytes ? end - probe_bytes : stream.begin;
    if (const auto found = last_line_end(stream.file, from, end)) return *found;
    end = from;
  }
  return stream.begin;
}

std::uint64_t find_time(const StreamRecord& stream, base::Timestamp from) {
  if (!stream.ordered) return stream.begin;
  // Invariant: every event before `low` is earlier than `from`.
  std::uint64_t low = stream.begin, high = std::max(low, size_of(stream.file));
  while (high - low > 2 * chunk_bytes) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto start = next_record(stream.file, middle);
    if (!start || *start >= high) break;
    const run::LogSlice slice = run::read_log_file(stream.file, *start, 1);
    if (slice.records.empty()) break;
    if (slice.records.front().at < from) {
      low = *start;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace meridian::region::telemetry
