// What a person sees of a training job: pure, from answers and log lines to lines of text.
//
//   JobView view("digits-1", metrics);
//   view.describe(answer);            // of DescribeTrainingJob
//   view.log("algo-1", "loss=0.5");
//   for (auto& line : view.news()) say(line);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "cli/console.h"

namespace meridian::cli {

bool is_terminal_status(std::string_view training_job_status);

// Metric definitions applied to log lines, for showing only: what counts is the region's own.
class MetricLines {
 public:
  // Definitions whose expression this cannot compile are left out.
  explicit MetricLines(const std::vector<std::pair<std::string, std::string>>& definitions);
  ~MetricLines();
  MetricLines(MetricLines&&) noexcept;
  std::vector<std::pair<std::string, double>> match(std::string_view line) const;

 private:
  struct Definition;
  std::vector<Definition> definitions_;
};

class JobView {
 public:
  using Metrics = std::vector<std::pair<std::string, std::string>>;  // name, regex
  JobView(std::string job, const Metrics& metrics);
  ~JobView();

  void describe(base::Json answer);
  void log(const std::string& host, std::string_view line);

  std::string status() const;  // TrainingJobStatus; "" before the first describe
  bool terminal() const { return is_terminal_status(status()); }
  // Transitions since the last call, one line each.
  std::vector<std::string> news();
  // The live block: job, instances with their state and last metrics.
  std::vector<std::string> block(const Console& console, base::Timestamp now) const;
  // At the end: outcome, metrics, artifact, times, cost.
  std::vector<std::string> summary(const Console& console) const;

 private:
  std::vector<std::string> hosts() const;
  std::string metrics_of(const std::string& host) const;

  std::string job_;
  std::shared_ptr<base::Json> answer_;
  MetricLines metrics_;
  std::vector<std::string> metric_order_;
  std::map<std::string, std::map<std::string, double>> last_;  // host → metric → value
  std::size_t transitions_told_ = 0;
  std::string last_message_;
};

// Lines "name  value" of FinalMetricDataList.
std::vector<std::pair<std::string, std::string>> final_metrics(const base::Json& answer);
// "billed 12 s × 2 × ml.m5.large".
std::string billed_line(const base::Json& answer);
// The list-price equivalent, or for which type there is no price and where to give one; "" when the
// region says nothing of it. Never a guess.
std::string cost_line(const base::Json& answer);
int instance_count(const base::Json& answer);

}  // namespace meridian::cli
