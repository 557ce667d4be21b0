// Logs and metrics of one region: streams of log events, metric time series, metric definitions
// applied to program output; and the CloudWatch Logs and CloudWatch services over them.
//
// Log events of instances are the supervisor's own files (run/log_file.h): nothing is copied, so
// nothing is lost or doubled by a restart. Metric extraction remembers its offset per stream.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "aws/service.h"
#include "base/clock.h"
#include "region/telemetry/metric_matcher.h"
#include "store/store.h"

namespace meridian::region::telemetry {

// The output of one instance of a job.
struct InstanceStream {
  std::string group;   // /aws/sagemaker/TrainingJobs
  std::string stream;  // <job>/algo-1-<epoch seconds>
  std::filesystem::path file;
  std::string job, host;  // for metric dimensions TrainingJobName and Host
  std::vector<MetricDefinition> metrics;
};

struct MetricValue {
  std::string name;
  double value = 0;
  base::Timestamp at{};
};

// As long as CloudWatch keeps them: 15 months.
inline constexpr base::Duration kMetricRetention{455ll * 86'400'000};

class Telemetry {
 public:
  struct Settings {
    std::string account, region;
    std::filesystem::path directory;  // regions/R/logs
  };
  Telemetry(store::Store& store, const base::Clock& clock, Settings settings);
  ~Telemetry();

  // Where the log file of a stream lies (made with its directories).
  std::filesystem::path log_file(const std::string& group, const std::string& stream);
  // Follows the stream from where it was left; idempotent by stream name.
  void follow(const InstanceStream& stream);
  // Reads the stream of an ended instance to its end, then stops following. Blocking, bounded by
  // its size.
  void finish(const std::string& group, const std::string& stream);

  std::vector<MetricValue> final_metrics(const std::string& job);  // last value of each definition
  // Why nothing matched: lines read, nearest lines, likely causes; nothing when every definition
  // matched.
  std::optional<std::string> metric_doctor(const std::string& job);
  // What went wrong with definitions that matched: text, parts of numbers, nan, cost, regexes that
  // do not compile. One sentence per definition and kind, all hosts together.
  std::vector<std::string> metric_warnings(const std::string& job);
  // Raw, oldest first.
  std::vector<std::string> last_lines(const std::string& group, const std::string& stream,
                                      std::size_t count);
  void put_metric(const std::string& name_space, const std::string& name,
                  const std::map<std::string, std::string>& dimensions, double value,
                  base::Timestamp at);
  // Percent of now: what host metrics are.
  void put_percent(const std::string& name_space, const std::string& name,
                   const std::map<std::string, std::string>& dimensions, double value);
  const std::filesystem::path& directory() const;
  void log(const std::string& group, const std::string& stream,
           const std::string& message);  // platform's own

  // Takes away log events past their group's retention, and metrics after kMetricRetention.
  // Blocking: for an activity, about once an hour.
  void expire(std::stop_token stop);

  aws::Service logs_service();        // "logs"
  aws::Service cloudwatch_service();  // "monitoring" (API model name cloudwatch)

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::telemetry
