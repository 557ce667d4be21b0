// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/stream_record.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::region::telemetry {
namespace {

// Examples hold bytes of a program's output.
std::string printable(const std::string& text) { return base::to_valid_utf8(text); }

base::Json metric_json(const MetricDefinition& definition, const MetricProgress& progress) {
  const MetricCounts& counts = progress.counts;
  return base::JsonObject{{"name", definition.name},
                          {"regex", definition.regex},
                          {"segment_bytes", progress.segment_bytes},
                          {"last_value", progress.last_value},
                          {"last_at", progress.last_at.ms},
                          {"values", counts.values},
                          {"texts", counts.texts},
                          {"partial", counts.partial},
                          {"not_finite", counts.not_finite},
                          {"too_expensive", counts.too_expensive},
                          {"other_group", counts.other_group},
                          {"text_example", printable(counts.text_example)},
                          {"partial_example", printable(counts.partial_example)},
                          {"partial_whole", printable(counts.partial_whole)},
                          {"not_finite_example", printable(counts.not_finite_example)}};
}

std::uint64_t count_of(const base::Json& json, std::string_view key) {
  return static_cast<std::uint64_t>(base::int_or(json, key, 0));
}

void parse_metric(const base::Json& json, StreamRecord& out) {
  out.metrics.push_back({base::string_or(json, "name"), base::string_or(json, "regex")});
  MetricProgress progress;
  progress.segment_bytes = count_of(json, "segment_bytes");
  progress.last_value = base::double_or(json, "last_value", 0);
  progress.last_at.ms = base::int_or(json, "last_at", 0);
  MetricCounts& counts = progress.counts;
  counts.values = count_of(json, "values");
  counts.texts = count_of(json, "texts");
  counts.partial = count_of(json, "partial");
  counts.not_finite = count_of(json, "not_finite");
  counts.too_expensive = count_of(json, "too_expensive");
  counts.other_group = count_of(json, "other_group");
  counts.text_example = base::string_or(json, "text_example");
  counts.partial_example = base::string_or(json, "partial_example");
  counts.partial_whole = base::string_or(json, "partial_whole");
  counts.not_finite_example = base::string_or(json, "not_finite_example");
  out.progress.push_back(std::move(progress));
}

std::optional<base::Timestamp> time_of(const base::Json& json, std::string_view key) {
  const base::Json* found = base::find(json, key);
  if (!found) return std::nullopt;
  return base::Timestamp{base::int_or(json, key, 0)};
}

}  // namespace

void StreamRecord::count(base::Timestamp at, std::size_t message_bytes) {
  if (last && at < *last) ordered = false;
  first = first ? std::min(*first, at) : at;
  last = last ? std::max(*last, at) : at;
  ++events;
  bytes += message_bytes + 26;  // CloudWatch's own measure of an event
}

base::Json to_json(const StreamRecord& record) {
  base::JsonObject out{{"kind", record.kind == StreamRecord::Kind::instance ? "instance" : "put"},
                       {"group", record.group},
                       {"stream", record.stream},
                       {"file", record.file.string()},
                       {"created", record.created.ms},
                       {"last_ingestion", record.last_ingestion.ms},
                       {"events", record.events},
                       {"bytes", record.bytes},
                       {"ordered", record.ordered},
                       {"begin", record.begin}};
  if (record.first) out["first"] = record.first->ms;
  if (record.last) out["last"] = record.last->ms;
  if (record.kind == StreamRecord::Kind::put) return out;
  out["job"] = record.job;
  out["host"] = record.host;
  out["following"] = record.following;
  out["offset"] = record.offset;
  base::JsonArray metrics;
  for (std::size_t i = 0; i < record.metrics.size(); ++i)
    metrics.push_back(metric_json(record.metrics[i], record.progress.at(i)));
  out["metrics"] = std::move(metrics);
  return out;
}

StreamRecord parse_stream(const std::string& body, const std::string& key) {
  const base::Json json = base::parse_stored_json(body, key);
  StreamRecord out;
  out.kind = base::string_or(json, "kind") == "instance" ? StreamRecord::Kind::instance
                                                         : StreamRecord::Kind::put;
  out.group = base::string_or(json, "group");
  out.stream = base::string_or(json, "stream");
  out.file = base::string_or(json, "file");
  out.created.ms = base::int_or(json, "created", 0);
  out.last_ingestion.ms = base::int_or(json, "last_ingestion", 0);
  out.first = time_of(json, "first");
  out.last = time_of(json, "last");
  out.events = count_of(json, "events");
  out.bytes = count_of(json, "bytes");
  out.ordered = base::bool_or(json, "ordered", true);
  out.begin = count_of(json, "begin");
  out.job = base::string_or(json, "job");
  out.host = base::string_or(json, "host");
  out.following = base::bool_or(json, "following", false);
  out.offset = count_of(json, "offset");
  if (const auto* metrics = base::find(json, "metrics"); metrics && metrics->is_array())
    for (const auto& metric : metrics->as_array()) parse_metric(metric, out);
  return out;
}

}  // namespace meridian::region::telemetry
