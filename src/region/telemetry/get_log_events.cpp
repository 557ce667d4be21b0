// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "region/telemetry/log_events_api.h"
#include "region/telemetry/log_reader.h"
#include "region/telemetry/logs_input.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::int64_t most_events = 10'000;

// A place in the file and the direction to go on: "f/00000000000000001234".
std::string token_text(char direction, std::uint64_t offset) {
  const std::string digits = std::to_string(offset);
  return std::string(1, direction) + "/" + std::string(20 - digits.size(), '0') + digits;
}

struct Token {
  char direction = 'f';
  std::uint64_t offset = 0;
};

Token parse_token(const std::string& text) {
  if (text.size() < 3 || text[1] != '/' || (text[0] != 'f' && text[0] != 'b')) refuse_token();
  const std::size_t first = std::min(text.find_first_not_of('0', 2), text.size() - 1);
  const auto offset = base::to_uint(std::string_view(text).substr(first));
  if (!offset) refuse_token();
  return {text[0], *offset};
}

EventBounds bounds_of(const base::JsonObject& in) {
  EventBounds bounds;
  if (const auto from = input_int(in, "startTime")) bounds.from.ms = *from;
  if (const auto to = input_int(in, "endTime")) bounds.to.ms = *to;
  bounds.events = static_cast<std::size_t>(
      std::clamp(input_int(in, "limit").value_or(most_events), std::int64_t{1}, most_events));
  return bounds;
}

EventSlice slice_of(const StreamRecord& stream, const base::JsonObject& in) {
  const EventBounds bounds = bounds_of(in);
  if (const std::string token = input_string(in, "nextToken"); !token.empty()) {
    const Token place = parse_token(token);
    const std::uint64_t offset = std::min(place.offset, end_of_events(stream));
    return place.direction == 'f' ? read_events(stream, offset, bounds)
                                  : read_events_before(stream, offset, bounds);
  }
  if (input_bool(in, "startFromHead"))
    return read_events(stream, find_time(stream, bounds.from), bounds);
  return read_events_before(stream, end_of_events(stream), bounds);
}

}  // namespace

base::Json get_log_events(const LogStore& logs, const base::JsonObject& in) {
  const StreamRecord stream = required_stream(logs, in);
  EventSlice slice = slice_of(stream, in);
  base::JsonArray events;
  for (const auto& event : slice.events)
    events.push_back(base::JsonObject{{"timestamp", event.at.ms},
                                      {"message", event.message},
                                      {"ingestionTime", event.ingested.ms}});
  return base::JsonObject{{"events", std::move(events)},
                          {"nextForwardToken", token_text('f', slice.end)},
                          {"nextBackwardToken", token_text('b', slice.begin)}};
}

}  // namespace meridian::region::telemetry
