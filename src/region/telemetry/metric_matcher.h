// Metric definitions applied to program output: what value does which line report?
//
// Rules, each with a test:
//   1. A regex is written as for Python's `re`: (?P<name>…), \Z, \uXXXX, {,n}, (?u) are understood.
//   2. A line is searched for all matches. The raw line is tried first; a definition that finds
//      nothing there is tried on the line as CloudWatch shows it (a tab as `#011`). A line counts
//      once.
//   3. The value is the group named `value`, else the first group that holds a number, else (no
//      groups) the whole match. A group named `name` must hold the definition's own name, and a
//      group that holds another definition's name makes the match that one's.
//   4. Scientific notation is a number. A part of a number is not: `[0-9\.]+` on "1e-05" takes "1",
//      which is left out and warned of.
//   5. nan and ±inf are left out too, and warned of: metrics have no place for them.
//   6. Text is left out with one warning; so is a regex that costs too much on some line. After
//      twenty such lines the definition rests.
//
// Not thread-safe: one matcher per stream.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::region::telemetry {

struct MetricDefinition {
  std::string name, regex;
};

// What a definition met so far; kept with the stream so that a restart goes on counting.
struct MetricCounts {
  std::uint64_t values = 0;         // taken
  std::uint64_t texts = 0;          // captured something that is no number
  std::uint64_t partial = 0;        // captured a part of a number
  std::uint64_t not_finite = 0;     // nan, inf
  std::uint64_t too_expensive = 0;  // lines on which the regex hit its limits
  std::uint64_t other_group = 0;    // value came from another group than the first
  std::string text_example, partial_example, partial_whole, not_finite_example;
};

struct MetricHit {
  std::size_t definition = 0;
  double value = 0;
};

class MetricMatcher {
 public:
  // A definition whose regex does not compile never matches; see regex_error().
  explicit MetricMatcher(std::vector<MetricDefinition> definitions,
                         std::vector<MetricCounts> counts = {});
  ~MetricMatcher();
  MetricMatcher(MetricMatcher&&) noexcept;
  MetricMatcher& operator=(MetricMatcher&&) noexcept;

  // All values of a line, by definition and then by place.
  std::vector<MetricHit> match(std::string_view line);

  const std::vector<MetricDefinition>& definitions() const;
  const std::vector<MetricCounts>& counts() const;
  const std::string& regex_error(std::size_t definition) const;  // empty: it compiles

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a person should know about a definition; empty when all is well.
std::vector<std::string> metric_warnings(const MetricDefinition& definition,
                                         const MetricCounts& counts,
                                         const std::string& regex_error);

// Why a regex is refused, for CreateTrainingJob; nothing when it compiles.
std::optional<std::string> check_metric_regex(const std::string& regex);

// The line as CloudWatch shows it: control characters as `#` and three octal digits.
std::string escape_control(std::string_view line);

}  // namespace meridian::region::telemetry
