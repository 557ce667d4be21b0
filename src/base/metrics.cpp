// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace meridian::base {
namespace {

class PrometheusCounter final : public Counter {
 public:
  explicit PrometheusCounter(prometheus::Counter& target) : target_(target) {}
  void add(double by) override { target_.Increment(by); }

 private:
  prometheus::Counter& target_;
};

class PrometheusGauge final : public Gauge {
 public:
  explicit PrometheusGauge(prometheus::Gauge& target) : target_(target) {}
  void set(double value) override { target_.Set(value); }
  void add(double by) override { target_.Increment(by); }

 private:
  prometheus::Gauge& target_;
};

class PrometheusHistogram final : public Histogram {
 public:
  explicit PrometheusHistogram(prometheus::Histogram& target) : target_(target) {}
  void observe(double value) override { target_.Observe(value); }

 private:
  prometheus::Histogram& target_;
};

using Id = std::pair<std::string, Labels>;

}  // namespace

struct Metrics::State {
  std::mutex mutex;
  prometheus::Registry registry;
  std::map<Id, PrometheusCounter> counters;
  std::map<Id, PrometheusGauge> gauges;
  std::map<Id, PrometheusHistogram> histograms;

  // The object of that name and those labels in `known`, made by `make` when there is none.
  template <class Map, class Make>
  auto& get(Map& known, const std::string& name, const Labels& labels, Make make) {
    std::lock_guard lock(mutex);
    const Id id{name, labels};
    if (const auto it = known.find(id); it != known.end()) return it->second;
    try {
      return known.try_emplace(id, make()).first->second;
    } catch (const std::invalid_argument& e) {
      throw Error(Code::internal, "metric '" + name + "' cannot be registered: " + e.what());
    }
  }
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(const std::string& name, const std::string& help, const Labels& labels) {
  return state_->get(state_->counters, name, labels, [&]() -> auto& {
    return prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry).Add(labels);
  });
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help, const Labels& labels) {
  return state_->get(state_->gauges, name, labels, [&]() -> auto& {
    return prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry).Add(labels);
  });
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                              const std::vector<double>& bounds, const Labels& labels) {
  return state_->get(state_->histograms, name, labels, [&]() -> auto& {
    auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
    return family.Add(labels, bounds);
  });
}

std::string Metrics::page() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, state_->registry.Collect());
  return out.str();
}

Metrics& metrics() {
  // Never destroyed: static references to counters outlive main().
  static auto* process_metrics = new Metrics;
  return *process_metrics;
}

}  // namespace meridian::base
