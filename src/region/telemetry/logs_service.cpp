// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/logs_service.h"

#include <memory>

#include "base/json.h"
#include "region/telemetry/log_events_api.h"
#include "region/telemetry/logs_input.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t most_streams_of_a_job = 10'000;

class Logs {
 public:
  explicit Logs(LogsBackend backend) : backend_(std::move(backend)) {}

  base::Json create_group(const base::JsonObject& in);
  base::Json delete_group(const base::JsonObject& in);
  base::Json describe_groups(const base::JsonObject& in);
  base::Json put_retention(const base::JsonObject& in);
  base::Json delete_retention(const base::JsonObject& in);
  base::Json create_stream(const base::JsonObject& in);
  base::Json delete_stream(const base::JsonObject& in);
  base::Json describe_streams(const base::JsonObject& in);
  base::Json put_events(const base::JsonObject& in);
  base::Json get_events(const base::JsonObject& in) { return get_log_events(backend_.logs, in); }
  base::Json filter_events(const base::JsonObject& in) {
    return filter_log_events(backend_.logs, in);
  }

 private:
  std::string group_arn(const std::string& group) const {
    return "arn:aws:logs:" + backend_.region + ":" + backend_.account + ":log-group:" + group;
  }
  base::Json group_json(const GroupRecord& group) const;
  base::Json stream_json(const StreamRecord& stream) const;
  LogStore::StreamQuery stream_query(const base::JsonObject& in) const;

  LogsBackend backend_;
};

base::Json Logs::create_group(const base::JsonObject& in) {
  if (!backend_.logs.create_group(input_string(in, "logGroupName")))
    throw aws::ApiError("ResourceAlreadyExistsException", "The specified log group already exists");
  return base::JsonObject();
}

base::Json Logs::delete_group(const base::JsonObject& in) {
  const std::string group = required_group(backend_.logs, in);
  backend_.follower.drop_group(group);
  backend_.logs.remove_group(group);
  return base::JsonObject();
}

base::Json Logs::group_json(const GroupRecord& group) const {
  base::JsonObject out{{"logGroupName", group.name},
                       {"creationTime", group.created.ms},
                       {"metricFilterCount", 0},
                       {"arn", group_arn(group.name) + ":*"},
                       {"logGroupArn", group_arn(group.name)},
                       {"logGroupClass", "STANDARD"}};
  if (group.retention_days) out["retentionInDays"] = *group.retention_days;
  return out;
}

base::Json Logs::describe_groups(const base::JsonObject& in) {
  std::string token = input_string(in, "nextToken");
  const auto limit = static_cast<std::size_t>(input_int(in, "limit").value_or(50));
  const auto groups = with_token_errors(
      [&] { return backend_.logs.groups(input_string(in, "logGroupNamePrefix"), limit, token); });
  base::JsonArray list;
  for (const auto& group : groups) list.push_back(group_json(group));
  base::JsonObject out{{"logGroups", std::move(list)}};
  if (!token.empty()) out["nextToken"] = token;
  return out;
}

base::Json Logs::put_retention(const base::JsonObject& in) {
  backend_.logs.set_retention(required_group(backend_.logs, in), input_int(in, "retentionInDays"));
  return base::JsonObject();
}

base::Json Logs::delete_retention(const base::JsonObject& in) {
  backend_.logs.set_retention(required_group(backend_.logs, in), std::nullopt);
  return base::JsonObject();
}

base::Json Logs::create_stream(const base::JsonObject& in) {
  StreamRecord record;
  record.group = required_group(backend_.logs, in);
  record.stream = input_string(in, "logStreamName");
  record.file = backend_.logs.file_of(record.group, record.stream);
  record.created = backend_.clock.now();
  if (!backend_.logs.create_stream(record))
    throw aws::ApiError("ResourceAlreadyExistsException",
                        "The specified log stream already exists");
  return base::JsonObject();
}

base::Json Logs::delete_stream(const base::JsonObject& in) {
  const StreamRecord stream = required_stream(backend_.logs, in);
  backend_.follower.drop(stream.group, stream.stream);
  backend_.logs.remove_stream(stream.group, stream.stream);
  return base::JsonObject();
}

base::Json Logs::stream_json(const StreamRecord& stream) const {
  base::JsonObject out{
      {"logStreamName", stream.stream},
      {"creationTime", stream.created.ms},
      {"arn", group_arn(stream.group) + ":log-stream:" + stream.stream},
      {"uploadSequenceToken", "49600000000000000000000000000000000000000000000000000000"},
      {"storedBytes", stream.bytes}};
  if (stream.first) out["firstEventTimestamp"] = stream.first->ms;
  if (stream.last) {
    out["lastEventTimestamp"] = stream.last->ms;
    out["lastIngestionTime"] = stream.last_ingestion.ms;
  }
  return out;
}

LogStore::StreamQuery Logs::stream_query(const base::JsonObject& in) const {
  LogStore::StreamQuery query;
  query.group = required_group(backend_.logs, in);
  query.prefix = input_string(in, "logStreamNamePrefix");
  query.token = input_string(in, "nextToken");
  query.limit = static_cast<std::size_t>(input_int(in, "limit").value_or(50));
  if (query.prefix.ends_with('/')) query.limit = most_streams_of_a_job;
  if (input_bool(in, "descending")) query.direction = LogStore::StreamQuery::Direction::descending;
  if (input_string(in, "orderBy") == "LastEventTime") {
    if (!query.prefix.empty())
      throw aws::ApiError("InvalidParameterException",
                          "Cannot order by LastEventTime with a logStreamNamePrefix.");
    query.order = LogStore::StreamQuery::Order::by_last_event;
  }
  return query;
}

base::Json Logs::describe_streams(const base::JsonObject& in) {
  const LogStore::StreamQuery query = stream_query(in);
  std::string token;
  const auto streams = with_token_errors([&] { return backend_.logs.streams(query, token); });
  base::JsonArray list;
  for (const auto& stream : streams) list.push_back(stream_json(stream));
  base::JsonObject out{{"logStreams", std::move(list)}};
  if (!token.empty()) out["nextToken"] = token;
  return out;
}

base::Json Logs::put_events(const base::JsonObject& in) {
  const StreamRecord stream = required_stream(backend_.logs, in);
  const PutBatch batch = parse_put_batch(in, backend_.clock.now());
  if (stream.kind != StreamRecord::Kind::put)
    throw aws::ApiError("InvalidParameterException",
                        "The log stream '" + stream.stream +
                            "' holds the output of a job and takes no other events.");
  if (!batch.events.empty()) backend_.logs.append(stream.group, stream.stream, batch.events);
  base::JsonObject out{
      {"nextSequenceToken", "49600000000000000000000000000000000000000000000000000000"}};
  base::JsonObject rejected;
  if (batch.too_old_end) rejected["tooOldLogEventEndIndex"] = *batch.too_old_end;
  if (batch.too_new_start) rejected["tooNewLogEventStartIndex"] = *batch.too_new_start;
  if (!rejected.empty()) out["rejectedLogEventsInfo"] = std::move(rejected);
  return out;
}

}  // namespace

aws::Service make_logs_service(const LogsBackend& backend) {
  const auto logs = std::make_shared<Logs>(backend);
  const auto bind = [&logs](base::Json (Logs::*method)(const base::JsonObject&)) {
    return [logs, method](const aws::CallContext&, const base::JsonObject& in) {
      return (*logs.*method)(in);
    };
  };
  return {"logs",
          {{"CreateLogGroup", bind(&Logs::create_group)},
           {"DeleteLogGroup", bind(&Logs::delete_group)},
           {"DescribeLogGroups", bind(&Logs::describe_groups)},
           {"PutRetentionPolicy", bind(&Logs::put_retention)},
           {"DeleteRetentionPolicy", bind(&Logs::delete_retention)},
           {"CreateLogStream", bind(&Logs::create_stream)},
           {"DeleteLogStream", bind(&Logs::delete_stream)},
           {"DescribeLogStreams", bind(&Logs::describe_streams)},
           {"PutLogEvents", bind(&Logs::put_events)},
           {"GetLogEvents", bind(&Logs::get_events)},
           {"FilterLogEvents", bind(&Logs::filter_events)}}};
}

}  // namespace meridian::region::telemetry
