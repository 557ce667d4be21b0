// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "base/error.h"

namespace meridian::base {
namespace {

using testing::HasSubstr;

TEST(Metrics, ThePageShowsCountersGaugesAndHistograms) {
  Metrics m;
  m.counter("meridian_jobs_total", "Jobs accepted", {{"kind", "training"}}).add();
  m.counter("meridian_jobs_total", "Jobs accepted", {{"kind", "transform"}}).add(2);
  m.gauge("meridian_slots", "Free slots").set(4);
  m.gauge("meridian_slots", "Free slots").add(-1);
  Histogram& h = m.histogram("meridian_seconds", "Time", {0.1, 1});
  h.observe(0.05);
  h.observe(0.5);
  h.observe(5);
  const std::string page = m.page();
  EXPECT_THAT(page, HasSubstr("# HELP meridian_jobs_total Jobs accepted\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE meridian_jobs_total counter\n"));
  EXPECT_THAT(page, HasSubstr("meridian_jobs_total{kind=\"training\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("meridian_jobs_total{kind=\"transform\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("meridian_slots 3\n"));
  EXPECT_THAT(page, HasSubstr("meridian_seconds_bucket{le=\"0.1\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("meridian_seconds_bucket{le=\"1\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("meridian_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("meridian_seconds_count 3\n"));
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameObject) {
  Metrics m;
  EXPECT_EQ(&m.counter("a_total", "A", {{"x", "1"}}), &m.counter("a_total", "A", {{"x", "1"}}));
  EXPECT_NE(&m.counter("a_total", "A", {{"x", "1"}}), &m.counter("a_total", "A", {{"x", "2"}}));
}

TEST(Metrics, LabelValuesAreEscaped) {
  Metrics m;
  m.gauge("g", "G", {{"path", "a\"b\\c\n"}}).set(1);
  EXPECT_THAT(m.page(), HasSubstr(R"(g{path="a\"b\\c\n"} 1)"));
}

TEST(Metrics, ANameThatPrometheusRefusesIsADefect) {
  Metrics m;
  EXPECT_THROW(m.counter("not a name", "x"), Error);
  m.counter("same", "x");
  EXPECT_THROW(m.gauge("same", "x"), Error);
}

TEST(Metrics, ThreadsLoseNoCount) {
  Metrics m;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) m.counter("n_total", "N").add();
    });
  }
  threads.clear();
  EXPECT_THAT(m.page(), HasSubstr("n_total 4000\n"));
}

TEST(Metrics, TheProcessHasOnePage) {
  metrics().counter("meridian_base_test_total", "Of this test").add();
  EXPECT_THAT(metrics().page(), HasSubstr("meridian_base_test_total 1"));
}

}  // namespace
}  // namespace meridian::base
