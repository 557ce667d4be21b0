// Counters, gauges and histograms of this process, printed as a Prometheus page.
//
//   static Counter& jobs = metrics().counter("meridian_jobs_total", "Jobs accepted", {{"kind",
//   "training"}}); jobs.add();
//
// The same name and labels give the same object. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace meridian::base {

using Labels = std::map<std::string, std::string>;

class Counter {
 public:
  virtual ~Counter() = default;
  virtual void add(double by = 1) = 0;
};

class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
  virtual void add(double by) = 0;
};

class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help,
                       const std::vector<double>& bounds, const Labels& labels = {});
  std::string page() const;  // text/plain; version=0.0.4

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Metrics& metrics();  // of this process

}  // namespace meridian::base
