// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/logs_input.h"

#include <algorithm>

#include "base/json.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t most_batch_bytes = 1'048'576;
constexpr std::size_t most_event_bytes = 262'144;
constexpr std::size_t event_overhead = 26;
constexpr base::Duration oldest{14LL * 24 * 3600 * 1000};
constexpr base::Duration newest{2LL * 3600 * 1000};
constexpr base::Duration longest_span{24LL * 3600 * 1000};

[[noreturn]] void refuse(const std::string& message) {
  throw aws::ApiError("InvalidParameterException", message);
}

// The name in an ARN "arn:aws:logs:region:account:log-group:NAME[:*]", or the text itself.
std::string group_of_identifier(const std::string& identifier) {
  const std::string marker = ":log-group:";
  const std::size_t at = identifier.find(marker);
  if (!identifier.starts_with("arn:") || at == std::string::npos) return identifier;
  const std::string name = identifier.substr(at + marker.size());
  return name.substr(0, name.find(':'));
}

}  // namespace

std::string input_string(const base::JsonObject& in, std::string_view key) {
  const base::Json* found = base::find(in, key);
  return found && found->is_string() ? std::string(base::view(found->as_string())) : "";
}

std::optional<std::int64_t> input_int(const base::JsonObject& in, std::string_view key) {
  const base::Json* found = base::find(in, key);
  if (!found || !found->is_number()) return std::nullopt;
  if (found->is_double()) return static_cast<std::int64_t>(found->as_double());
  boost::system::error_code out_of_range;
  const auto value = found->to_number<std::int64_t>(out_of_range);
  if (out_of_range) return std::nullopt;
  return value;
}

bool input_bool(const base::JsonObject& in, std::string_view key) {
  const base::Json* found = base::find(in, key);
  return found && found->is_bool() && found->as_bool();
}

void refuse_token() { refuse("The specified nextToken is invalid."); }

std::string required_group(const LogStore& logs, const base::JsonObject& in) {
  std::string group = input_string(in, "logGroupName");
  if (group.empty()) group = group_of_identifier(input_string(in, "logGroupIdentifier"));
  if (group.empty()) refuse("Either logGroupName or logGroupIdentifier is needed.");
  if (!logs.find_group(group))
    throw aws::ApiError("ResourceNotFoundException", "The specified log group does not exist.");
  return group;
}

StreamRecord required_stream(const LogStore& logs, const base::JsonObject& in) {
  const std::string group = required_group(logs, in);
  auto stream = logs.find_stream(group, input_string(in, "logStreamName"));
  if (!stream)
    throw aws::ApiError("ResourceNotFoundException", "The specified log stream does not exist.");
  return std::move(*stream);
}

PutBatch parse_put_batch(const base::JsonObject& in, base::Timestamp now) {
  PutBatch out;
  const base::Json* list = base::find(in, "logEvents");
  if (!list || !list->is_array() || list->as_array().empty())
    refuse(
        "1 validation error detected: Value '[]' at 'logEvents' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1");
  std::size_t bytes = 0;
  std::int64_t index = 0;
  std::optional<base::Timestamp> first, before;
  for (const auto& item : list->as_array()) {
    const base::JsonObject& event = item.as_object();
    PutEvent put{{input_int(event, "timestamp").value_or(now.ms)}, input_string(event, "message")};
    if (put.message.size() + event_overhead > most_event_bytes)
      refuse("Log event too large: " + std::to_string(put.message.size() + event_overhead) +
             " bytes exceeds limit of " + std::to_string(most_event_bytes));
    bytes += put.message.size() + event_overhead;
    if (before && put.at < *before)
      refuse("Log events in a single PutLogEvents request must be in chronological order.");
    before = put.at;
    if (!first) first = put.at;
    if (put.at < now - oldest) {
      out.too_old_end = index + 1;
    } else if (put.at > now + newest) {
      if (!out.too_new_start) out.too_new_start = index;
    } else {
      out.events.push_back(std::move(put));
    }
    ++index;
  }
  if (bytes > most_batch_bytes)
    refuse("Upload too large: " + std::to_string(bytes) + " bytes exceeds limit of " +
           std::to_string(most_batch_bytes));
  if (*before - *first > longest_span)
    refuse(
        "The batch of log events in a single PutLogEvents request cannot span more than 24 "
        "hours.");
  return out;
}

}  // namespace meridian::region::telemetry
