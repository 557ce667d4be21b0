// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/telemetry.h"

#include <algorithm>

#include "base/file.h"
#include "region/telemetry/cloudwatch_service.h"
#include "region/telemetry/follower.h"
#include "region/telemetry/job_metrics.h"
#include "region/telemetry/log_reader.h"
#include "region/telemetry/log_store.h"
#include "region/telemetry/logs_service.h"
#include "region/telemetry/put_message.h"
#include "region/telemetry/series.h"
#include "region/telemetry/units.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t sampled_streams = 4;
constexpr std::size_t sampled_bytes = 1u << 20;
constexpr std::size_t sampled_lines = 5000;

std::string key_prefix(const Telemetry::Settings& settings, const std::string& what) {
  return settings.account + "/" + settings.region + "/" + what + "/";
}

// Raw lines from the start and the end of the output.
std::vector<std::string> sample_lines(const std::vector<StreamRecord>& streams) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(streams.size(), sampled_streams); ++i) {
    const StreamRecord& stream = streams[i];
    auto head = run::read_log_file(stream.file, 0, sampled_bytes);
    for (auto& record : head.records) {
      if (out.size() >= (i + 1) * sampled_lines) break;
      out.push_back(std::move(record.message));
    }
    EventBounds bounds;
    bounds.events = sampled_lines;
    bounds.face = EventBounds::Face::raw;
    const auto tail = read_events_before(stream, end_of_events(stream), bounds);
    for (const auto& event : tail.events)
      if (event.offset >= head.next_offset) out.push_back(event.message);
  }
  return out;
}

}  // namespace

struct Telemetry::State {
  State(store::Store& store, const base::Clock& c, Settings s)
      : clock(c),
        settings(std::move(s)),
        logs(store, c, key_prefix(settings, "logs"), settings.directory / "streams"),
        series(store, key_prefix(settings, "metrics"), settings.directory / "metrics"),
        follower(logs, series, c) {}

  const base::Clock& clock;
  Settings settings;
  LogStore logs;
  SeriesStore series;
  Follower follower;  // last: its thread uses the others
};

Telemetry::Telemetry(store::Store& store, const base::Clock& clock, Settings settings)
    : state_(std::make_unique<State>(store, clock, std::move(settings))) {}

Telemetry::~Telemetry() = default;

std::filesystem::path Telemetry::log_file(const std::string& group, const std::string& stream) {
  const auto path = state_->logs.file_of(group, stream);
  base::make_directories(path.parent_path());
  return path;
}

void Telemetry::follow(const InstanceStream& stream) {
  state_->logs.ensure_group(stream.group);
  StreamRecord record;
  record.kind = StreamRecord::Kind::instance;
  record.group = stream.group;
  record.stream = stream.stream;
  record.file = stream.file;
  record.created = state_->clock.now();
  record.job = stream.job;
  record.host = stream.host;
  record.metrics = stream.metrics;
  state_->follower.follow(std::move(record));
}

void Telemetry::finish(const std::string& group, const std::string& stream) {
  state_->follower.finish(group, stream);
}

std::vector<MetricValue> Telemetry::final_metrics(const std::string& job) {
  return telemetry::final_metrics(state_->logs.streams_of_job(job));
}

std::optional<std::string> Telemetry::metric_doctor(const std::string& job) {
  const auto streams = state_->logs.streams_of_job(job);
  DoctorCase doctor_case = summarize(streams);
  const bool healthy = std::all_of(doctor_case.patients.begin(), doctor_case.patients.end(),
                                   [](const auto& patient) { return patient.counts.values > 0; });
  if (healthy) return std::nullopt;
  doctor_case.sample = sample_lines(streams);
  return diagnose(doctor_case);
}

std::vector<std::string> Telemetry::metric_warnings(const std::string& job) {
  std::vector<std::string> out;
  for (const auto& patient : summarize(state_->logs.streams_of_job(job)).patients) {
    const std::string error = check_metric_regex(patient.definition.regex).value_or("");
    for (auto& text : telemetry::metric_warnings(patient.definition, patient.counts, error))
      out.push_back(std::move(text));
  }
  return out;
}

std::vector<std::string> Telemetry::last_lines(const std::string& group, const std::string& stream,
                                               std::size_t count) {
  const auto record = state_->logs.find_stream(group, stream);
  if (!record || count == 0) return {};
  EventBounds bounds;
  bounds.events = count;
  bounds.face = EventBounds::Face::raw;
  std::vector<std::string> out;
  for (auto& event : read_events_before(*record, end_of_events(*record), bounds).events)
    out.push_back(std::move(event.message));
  return out;
}

void Telemetry::put_metric(const std::string& name_space, const std::string& name,
                           const std::map<std::string, std::string>& dimensions, double value,
                           base::Timestamp at) {
  state_->series.append({name_space, name, dimensions}, {Point::of(at, value)});
}

void Telemetry::put_percent(const std::string& name_space, const std::string& name,
                            const std::map<std::string, std::string>& dimensions, double value) {
  state_->series.append({name_space, name, dimensions},
                        {Point::of(state_->clock.now(), value, unit_number("Percent"))});
}

const std::filesystem::path& Telemetry::directory() const { return state_->settings.directory; }

void Telemetry::log(const std::string& group, const std::string& stream,
                    const std::string& message) {
  state_->logs.ensure_group(group);
  state_->logs.append(group, stream, {{state_->clock.now(), message}});
}

void Telemetry::expire(std::stop_token stop) {
  state_->logs.expire(stop);
  state_->series.expire(state_->clock.now() - kMetricRetention, stop);
}

aws::Service Telemetry::logs_service() {
  return make_logs_service({state_->logs, state_->follower, state_->clock, state_->settings.account,
                            state_->settings.region});
}

aws::Service Telemetry::cloudwatch_service() {
  return make_cloudwatch_service(state_->series, state_->clock);
}

}  // namespace meridian::region::telemetry
