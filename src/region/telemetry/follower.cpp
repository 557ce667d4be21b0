// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/follower.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "base/digest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "run/log_file.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::chrono::milliseconds poll_interval{150};
constexpr base::Duration save_interval{1000};
constexpr std::size_t slice_bytes = 1u << 20;
constexpr std::uint64_t save_after_bytes = 8u << 20;
constexpr std::size_t most_warned = 10'000;

std::string source_of(const StreamRecord& record) {
  return base::sha256_hex(record.group + ":" + record.stream).substr(0, 24);
}

MetricMatcher make_matcher(const StreamRecord& record) {
  std::vector<MetricCounts> counts;
  for (const auto& progress : record.progress) counts.push_back(progress.counts);
  return MetricMatcher(record.metrics, std::move(counts));
}

void count_process_metrics(std::size_t lines, std::size_t points) {
  static base::Counter& line_count = base::metrics().counter(
      "meridian_telemetry_lines_total", "Lines of program output read for metrics");
  static base::Counter& point_count = base::metrics().counter(
      "meridian_telemetry_points_total", "Metric values taken from program output");
  if (lines > 0) line_count.add(static_cast<double>(lines));
  if (points > 0) point_count.add(static_cast<double>(points));
}

// Forgets everything that came from the file, to read it again.
void start_over(StreamRecord& record) {
  record.offset = record.events = record.bytes = 0;
  record.first.reset();
  record.last.reset();
  record.ordered = true;
  record.progress.assign(record.metrics.size(), {});
}

}  // namespace

SeriesKey job_series(const StreamRecord& record, const std::string& metric) {
  return {record.group, metric, {{"TrainingJobName", record.job}}};
}

// One file under watch. Its lock is held while a slice is worked on and saved.
class Follower::Stream {
 public:
  Stream(StreamRecord r, base::Ticks now)
      : record(std::move(r)), matcher(make_matcher(record)), saved_at(now) {}

  std::mutex mutex;
  StreamRecord record;
  MetricMatcher matcher;
  base::Ticks saved_at;
  std::uint64_t saved_offset = 0;
  bool dropped = false, failing = false;

  // Takes one slice of the file; says whether there was one.
  bool take_slice(SeriesStore& series);

 private:
  std::size_t take_records(const run::LogSlice& slice, StreamRecord& next,
                           std::vector<std::vector<Point>>& points);
};

std::size_t Follower::Stream::take_records(const run::LogSlice& slice, StreamRecord& next,
                                           std::vector<std::vector<Point>>& points) {
  std::size_t count = 0;
  for (const auto& line : slice.records) {
    next.count(line.at, line.message.size());
    next.last_ingestion = std::max(next.last_ingestion, line.at);
    if (next.metrics.empty()) continue;
    for (const MetricHit& hit : matcher.match(line.message)) {
      points[hit.definition].push_back(Point::of(line.at, hit.value));
      MetricProgress& progress = next.progress[hit.definition];  // the later line wins, whatever
                                                                 // the clock said meanwhile
      progress.last_at = line.at;
      progress.last_value = hit.value;
    }
  }
  for (const auto& of_definition : points) count += of_definition.size();
  return count;
}

bool Follower::Stream::take_slice(SeriesStore& series) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(record.file, absent);
  if (absent || size <= record.offset) return false;
  const std::uint64_t bytes = std::min<std::uint64_t>(size - record.offset, slice_bytes);
  const run::LogSlice slice = run::read_log_file(record.file, record.offset, bytes);
  if (slice.next_offset == record.offset) return false;
  StreamRecord next = record;
  std::vector<std::vector<Point>> points(next.metrics.size());
  try {
    const std::size_t count = take_records(slice, next, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      MetricProgress& progress = next.progress[i];
      progress.counts = matcher.counts()[i];
      if (points[i].empty()) continue;
      progress.segment_bytes = series.write(job_series(next, next.metrics[i].name), source_of(next),
                                            progress.segment_bytes, points[i]);
    }
    count_process_metrics(slice.records.size(), count);
  } catch (...) {
    matcher = make_matcher(record);  // as before the slice, which will be taken again
    throw;
  }
  next.offset = slice.next_offset;
  record = std::move(next);
  return true;
}

Follower::Follower(LogStore& logs, SeriesStore& series, const base::Clock& clock)
    : logs_(logs), series_(series), clock_(clock) {
  for (auto& record : logs_.followed()) follow(std::move(record));
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

Follower::~Follower() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  auto streams = streams_.lock();  // the thread is gone: nobody else holds a stream
  for (auto& [key, stream] : *streams) {
    try {
      const std::lock_guard lock(stream->mutex);
      logs_.save(stream->record);
    } catch (const base::Error& error) {  // the next start reads the lines again
      base::log_warn("progress of a log stream not saved", {{"error", error.what()}});
    }
  }
}

std::shared_ptr<Follower::Stream> Follower::find(const Key& key) const {
  auto streams = streams_.lock();
  const auto found = streams->find(key);
  return found == streams->end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Follower::Stream>> Follower::all() const {
  std::vector<std::shared_ptr<Stream>> out;
  auto streams = streams_.lock();
  for (const auto& [key, stream] : *streams) out.push_back(stream);
  return out;
}

void Follower::follow(StreamRecord wanted) {
  const Key key{wanted.group, wanted.stream};
  if (find(key)) return;
  wanted.following = true;
  wanted.progress.resize(wanted.metrics.size());
  if (auto stored = logs_.find_stream(wanted.group, wanted.stream)) {
    if (stored->kind != StreamRecord::Kind::instance)
      throw base::Error(base::Code::failed_precondition,
                        "log stream '" + wanted.stream + "' holds events that were put");
    stored->following = true;
    stored->file = wanted.file;
    wanted = std::move(*stored);
    for (std::size_t i = 0; i < wanted.metrics.size(); ++i) {
      const auto series = job_series(wanted, wanted.metrics[i].name);
      if (series_.segment_bytes(series, source_of(wanted)) >= wanted.progress[i].segment_bytes)
        continue;
      base::log_warn("metric points are missing, reading the log again",
                     {{"job", wanted.job}, {"metric", wanted.metrics[i].name}});
      start_over(wanted);
      break;
    }
    logs_.save(wanted);
  } else {
    (void)logs_.create_stream(wanted);
  }
  auto stream = std::make_shared<Stream>(wanted, clock_.ticks());
  stream->saved_offset = wanted.offset;
  logs_.show_newer(wanted);
  streams_.lock()->try_emplace(key, std::move(stream));
  for (std::size_t i = 0; i < wanted.metrics.size(); ++i)
    if (const auto error = check_metric_regex(wanted.metrics[i].regex))
      for (const auto& text : metric_warnings(wanted.metrics[i], {}, *error))
        base::log_warn(text, {{"job", wanted.job}});
}

void Follower::warn_once(const StreamRecord& record, std::size_t definition,
                         const MetricCounts& before) {
  constexpr std::array kinds = {&MetricCounts::texts, &MetricCounts::partial,
                                &MetricCounts::not_finite, &MetricCounts::too_expensive,
                                &MetricCounts::other_group};
  const MetricCounts& after = record.progress[definition].counts;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (before.*kinds[kind] > 0 || after.*kinds[kind] == 0) continue;
    const std::string once =
        record.job + "\n" + record.metrics[definition].name + "\n" + std::to_string(kind);
    {
      auto warned = warned_.lock();
      if (warned->size() >= most_warned) warned->clear();
      if (!warned->insert(once).second) continue;
    }
    MetricCounts only = after;
    for (const auto other : kinds)
      if (other != kinds[kind]) only.*other = 0;
    for (const auto& text : metric_warnings(record.metrics[definition], only, ""))
      base::log_warn(text, {{"job", record.job}, {"host", record.host}});
  }
}

// Everything that is there now. The caller holds the stream's lock.
void Follower::advance(Stream& stream) {
  bool any = false;
  while (!stream.dropped) {
    const auto before = stream.record.progress;
    if (!stream.take_slice(series_)) break;
    any = true;
    for (std::size_t i = 0; i < before.size(); ++i) warn_once(stream.record, i, before[i].counts);
    if (stream.record.offset - stream.saved_offset >= save_after_bytes) {
      logs_.save(stream.record);
      stream.saved_offset = stream.record.offset;
    }
  }
  if (any) logs_.show_newer(stream.record);
  if (stream.record.offset == stream.saved_offset) return;
  if (clock_.ticks() - stream.saved_at < save_interval) return;
  logs_.save(stream.record);
  stream.saved_offset = stream.record.offset;
  stream.saved_at = clock_.ticks();
}

void Follower::finish(const std::string& group, const std::string& name) {
  const Key key{group, name};
  const auto stream = find(key);
  if (!stream) return;
  const std::lock_guard lock(stream->mutex);
  if (stream->dropped) return;
  advance(*stream);
  stream->record.following = false;
  logs_.save(stream->record);
  logs_.hide_newer(stream->record);
  stream->dropped = true;
  streams_.lock()->erase(key);
}

void Follower::drop(const std::string& group, const std::string& name) {
  const Key key{group, name};
  const auto stream = find(key);
  if (!stream) return;
  const std::lock_guard lock(stream->mutex);
  stream->dropped = true;
  logs_.hide_newer(stream->record);
  streams_.lock()->erase(key);
}

void Follower::drop_group(const std::string& group) {
  std::vector<std::string> names;
  {
    auto streams = streams_.lock();
    for (const auto& [key, stream] : *streams)
      if (key.first == group) names.push_back(key.second);
  }
  for (const auto& name : names) drop(group, name);
}

void Follower::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    for (const auto& stream : all()) {
      if (stop.stop_requested()) return;
      const std::lock_guard lock(stream->mutex);
      try {
        advance(*stream);
        stream->failing = false;
      } catch (const base::Error& error) {  // a thread's body; tried again at the next round
        if (!stream->failing)
          base::log_error("cannot follow a log stream",
                          {{"stream", stream->record.stream}, {"error", error.what()}});
        stream->failing = true;
      }
    }
    auto pause = pause_.lock();
    pause.wait_until(stop, std::chrono::steady_clock::now() + poll_interval,
                     [](int) { return false; });
  }
}

}  // namespace meridian::region::telemetry
