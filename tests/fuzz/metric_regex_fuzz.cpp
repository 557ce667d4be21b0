// Metric regexes and log lines of strangers, and filter patterns over them.
//
// LINK: base region_telemetry
//
// Input: first line = regex, second = filter pattern, the rest = log lines.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/strings.h"
#include "region/telemetry/filter_pattern.h"
#include "region/telemetry/metric_doctor.h"
#include "region/telemetry/metric_matcher.h"
#include "region/telemetry/metric_number.h"

using namespace meridian;
using namespace meridian::region::telemetry;

namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string regex(take_line(rest));
  const auto filter = parse_filter(take_line(rest));
  std::vector<MetricDefinition> definitions = {{"loss", regex}};
  MetricMatcher matcher(std::move(definitions));
  DoctorCase job;
  while (!rest.empty() && job.lines_read < 8) {
    const std::string_view line = take_line(rest);
    std::uint64_t taken = 0;
    const std::uint64_t before = matcher.counts()[0].values;
    for (const MetricHit& hit : matcher.match(line)) {
      require(hit.definition == 0 && std::isfinite(hit.value));
      ++taken;
    }
    require(matcher.counts()[0].values == before + taken);
    (void)parse_metric_number(line);
    const std::string_view number = number_around(line, 0, line.size());
    require(number.empty() || (number.data() >= line.data() &&
                               number.data() + number.size() <= line.data() + line.size()));
    if (filter) (void)(*filter)->matches(line);
    job.sample.emplace_back(line);
    ++job.lines_read;
  }
  if (job.lines_read <= 2) {  // it tries several variants of the regex: costly
    job.patients.push_back({matcher.definitions()[0], matcher.counts()[0]});
    (void)diagnose(job);
  }
  return 0;
}
