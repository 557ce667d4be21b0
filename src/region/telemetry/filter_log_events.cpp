// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>

#include "base/digest.h"
#include "base/json.h"
#include "base/strings.h"
#include "region/telemetry/filter_pattern.h"
#include "region/telemetry/log_events_api.h"
#include "region/telemetry/log_reader.h"
#include "region/telemetry/logs_input.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t streams_together = 100;    // merged by time
constexpr std::size_t events_ahead = 2048;       // read per stream at once …
constexpr std::size_t bytes_ahead = 256u << 10;  // … and of their messages
constexpr std::size_t most_bytes = 1u << 20;
constexpr std::size_t most_scanned = 200'000;  // events looked at for one page
constexpr std::int64_t most_events = 10'000;

// Where a page ended: batch of streams by its first stream, and offsets within.
struct Place {
  std::string token_of_batch;  // listing token; "" = first
  std::map<std::string, std::uint64_t> offsets;
};

std::string token_text(const Place& place) {
  base::JsonObject offsets;
  for (const auto& [stream, offset] : place.offsets) offsets[stream] = offset;
  return base::base64(base::to_text(
      base::JsonObject{{"batch", place.token_of_batch}, {"offsets", std::move(offsets)}}));
}

Place parse_token(const std::string& text) {
  Place place;
  if (text.empty()) return place;
  const auto bytes = base::unbase64(text);
  if (!bytes) refuse_token();
  const auto json = base::parse_json(*bytes);
  if (!json || !json->is_object()) refuse_token();
  place.token_of_batch = base::string_or(*json, "batch");
  const base::Json* offsets = base::find(*json, "offsets");
  if (!offsets || !offsets->is_object()) refuse_token();
  for (const auto& [stream, offset] : offsets->as_object()) {
    if (!offset.is_int64() || offset.as_int64() < 0) refuse_token();
    place.offsets[stream] = static_cast<std::uint64_t>(offset.as_int64());
  }
  return place;
}

// One stream of a batch, read ahead in pieces.
struct Source {
  StreamRecord stream;
  std::uint64_t next = 0;  // behind what was read ahead
  bool ended = false;
  std::deque<LogEvent> ahead;

  void fill(EventBounds bounds) {
    if (!ahead.empty() || ended) return;
    bounds.events = events_ahead;
    bounds.bytes = bytes_ahead;
    EventSlice slice = read_events(stream, next, bounds);
    next = slice.end;
    ended = !slice.more;
    ahead.assign(std::make_move_iterator(slice.events.begin()),
                 std::make_move_iterator(slice.events.end()));
  }
  std::uint64_t place() const { return ahead.empty() ? next : ahead.front().offset; }
};

// 56 digits, unique and sorted by time within a stream, as CloudWatch's are.
std::string event_id(const StreamRecord& stream, const LogEvent& event) {
  const auto padded = [](std::uint64_t value, std::size_t width) {
    const std::string digits = std::to_string(value);
    return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
  };
  const std::uint64_t hash = base::crc64nvme(0, stream.group + ":" + stream.stream);
  return padded(static_cast<std::uint64_t>(std::max<std::int64_t>(event.at.ms, 0)), 20) +
         padded(hash % 10'000'000'000'000'000ULL, 16) + padded(event.offset, 20);
}

class Search {
 public:
  Search(const LogStore& logs, const base::JsonObject& in)
      : logs_(logs), group_(required_group(logs, in)), in_(in) {
    place_ = parse_token(input_string(in, "nextToken"));
    if (const auto from = input_int(in, "startTime")) bounds_.from.ms = *from;
    if (const auto to = input_int(in, "endTime")) bounds_.to.ms = *to;
    limit_ = static_cast<std::size_t>(
        std::clamp(input_int(in, "limit").value_or(most_events), std::int64_t{1}, most_events));
    auto filter = parse_filter(input_string(in, "filterPattern"));
    if (!filter)
      throw aws::ApiError("InvalidParameterException",
                          "Invalid filter pattern: " + filter.error().text());
    filter_ = std::move(*filter);
  }

  base::Json run() {
    std::string following;
    do {
      following.clear();
      open_batch(following);
      if (!merge()) return answer(here());
      place_ = {following, {}};
    } while (!following.empty());
    return answer("");
  }

 private:
  void open_batch(std::string& following);
  bool merge();  // false: the page is full
  void take(const Source& source, const LogEvent& event);
  std::string here() const {
    Place place{place_.token_of_batch, {}};
    for (const auto& source : sources_) place.offsets[source.stream.stream] = source.place();
    return token_text(place);
  }
  base::Json answer(const std::string& token) {
    base::JsonObject out{{"events", std::move(events_)}, {"searchedLogStreams", base::JsonArray()}};
    if (!token.empty()) out["nextToken"] = token;
    return out;
  }

  const LogStore& logs_;
  std::string group_;
  const base::JsonObject& in_;
  Place place_;
  EventBounds bounds_;
  std::size_t limit_ = 0, bytes_ = 0, scanned_ = 0;
  std::shared_ptr<const MessageFilter> filter_;
  std::vector<Source> sources_;
  base::JsonArray events_;
};

void Search::open_batch(std::string& following) {
  std::vector<StreamRecord> streams;
  if (const base::Json* names = base::find(in_, "logStreamNames"); names && names->is_array()) {
    for (const auto& name : names->as_array()) {
      auto stream = logs_.find_stream(group_, std::string(base::view(name.as_string())));
      if (!stream)
        throw aws::ApiError("ResourceNotFoundException",
                            "The specified log stream does not exist.");
      streams.push_back(std::move(*stream));
    }
  } else {
    const LogStore::StreamQuery query{.group = group_,
                                      .prefix = input_string(in_, "logStreamNamePrefix"),
                                      .limit = streams_together,
                                      .token = place_.token_of_batch};
    streams = with_token_errors([&] { return logs_.streams(query, following); });
  }
  sources_.clear();
  for (auto& stream : streams) {
    const auto found = place_.offsets.find(stream.stream);
    Source source;
    source.next = found != place_.offsets.end() ? found->second : find_time(stream, bounds_.from);
    source.stream = std::move(stream);
    sources_.push_back(std::move(source));
  }
}

void Search::take(const Source& source, const LogEvent& event) {
  bytes_ += event.message.size() + 26;
  events_.push_back(base::JsonObject{{"logStreamName", source.stream.stream},
                                     {"timestamp", event.at.ms},
                                     {"message", event.message},
                                     {"ingestionTime", event.ingested.ms},
                                     {"eventId", event_id(source.stream, event)}});
}

bool Search::merge() {
  while (true) {
    Source* earliest = nullptr;
    for (auto& source : sources_) {
      source.fill(bounds_);
      if (source.ahead.empty()) continue;
      if (!earliest || source.ahead.front().at < earliest->ahead.front().at) earliest = &source;
    }
    if (!earliest) return true;
    if (events_.size() >= limit_ || bytes_ >= most_bytes || scanned_++ >= most_scanned)
      return false;
    const LogEvent& event = earliest->ahead.front();
    if (filter_->matches(event.message)) take(*earliest, event);
    earliest->ahead.pop_front();
  }
}

}  // namespace

base::Json filter_log_events(const LogStore& logs, const base::JsonObject& in) {
  if (base::find(in, "logStreamNames") && base::find(in, "logStreamNamePrefix"))
    throw aws::ApiError("InvalidParameterException",
                        "Only one of logStreamNames and logStreamNamePrefix may be given.");
  return Search(logs, in).run();
}

}  // namespace meridian::region::telemetry
