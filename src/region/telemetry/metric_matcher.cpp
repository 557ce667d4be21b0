// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_matcher.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/strings.h"
#include "region/telemetry/metric_number.h"
#include "region/telemetry/regex.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t most_matches_of_a_line = 10'000;
constexpr std::uint64_t expensive_lines_until_rest = 20;
constexpr std::size_t longest_example = 60;

struct Compiled {
  std::optional<Regex> regex;
  std::string error;
  std::optional<std::size_t> value_group, name_group;
};

Compiled compile(const std::string& pattern) {
  Compiled out;
  auto regex = Regex::compile(pattern);
  if (!regex) {
    out.error = regex.error().text();
    return out;
  }
  out.regex.emplace(std::move(*regex));
  out.value_group = out.regex->group_named("value");
  out.name_group = out.regex->group_named("name");
  return out;
}

std::string_view text_of(std::string_view line, const GroupSpan& span) {
  return span ? line.substr(span->first, span->second - span->first) : std::string_view();
}

std::string example(std::string_view text) {
  return std::string(base::utf8_prefix(text, longest_example));
}

// The group that holds the value of the last match: by name, by number, by order.
std::size_t value_group(const Compiled& compiled, std::string_view line) {
  if (compiled.value_group) return *compiled.value_group;
  const auto& groups = compiled.regex->groups();
  if (groups.size() == 1) return 0;
  for (std::size_t i = 1; i < groups.size(); ++i)
    if (groups[i] && parse_metric_number(text_of(line, groups[i]))) return i;
  return 1;
}

bool has_control(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

struct MetricMatcher::State {
  std::vector<MetricDefinition> definitions;
  std::vector<MetricCounts> counts;
  std::vector<Compiled> compiled;

  bool is_of_other_metric(std::size_t definition, std::string_view line, std::size_t value) const;
  std::optional<double> take_value(std::size_t definition, std::string_view line);
  bool search(std::size_t definition, std::string_view line, std::vector<MetricHit>& hits);
};

// Rule 3: a group with the name of another metric says whose value this is.
bool MetricMatcher::State::is_of_other_metric(std::size_t definition, std::string_view line,
                                              std::size_t value) const {
  const auto& groups = compiled[definition].regex->groups();
  const std::string& own = definitions[definition].name;
  if (const auto named = compiled[definition].name_group)
    return text_of(line, groups[*named]) != own;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (i == value || !groups[i]) continue;
    const std::string_view text = text_of(line, groups[i]);
    if (text == own) return false;
    for (const auto& other : definitions)
      if (text == other.name) return true;
  }
  return false;
}

// Rules 4 to 6 on the last match.
std::optional<double> MetricMatcher::State::take_value(std::size_t definition,
                                                       std::string_view line) {
  MetricCounts& count = counts[definition];
  const std::size_t group = value_group(compiled[definition], line);
  if (is_of_other_metric(definition, line, group)) return std::nullopt;
  const GroupSpan& span = compiled[definition].regex->groups()[group];
  const std::string_view text = text_of(line, span);
  const auto value = parse_metric_number(text);
  if (!value) {
    if (count.texts++ == 0) count.text_example = example(text);
    return std::nullopt;
  }
  if (!std::isfinite(*value)) {
    if (count.not_finite++ == 0) count.not_finite_example = example(base::trim(text));
    return std::nullopt;
  }
  const std::string_view whole = number_around(line, span->first, span->second);
  if (const auto whole_value = parse_metric_number(whole); whole_value && *whole_value != *value) {
    if (count.partial++ == 0) {
      count.partial_example = example(base::trim(text));
      count.partial_whole = example(whole);
    }
    return std::nullopt;
  }
  if (group > 1 && !compiled[definition].value_group) ++count.other_group;
  ++count.values;
  return value;
}

// Says whether the regex matched at all.
bool MetricMatcher::State::search(std::size_t definition, std::string_view line,
                                  std::vector<MetricHit>& hits) {
  Regex& regex = *compiled[definition].regex;
  bool matched = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < most_matches_of_a_line && start <= line.size(); ++i) {
    const auto outcome = regex.search(line, start);
    if (outcome == Regex::Outcome::too_expensive) ++counts[definition].too_expensive;
    if (outcome != Regex::Outcome::match) break;
    matched = true;
    const auto [from, to] = *regex.groups()[0];
    if (const auto value = take_value(definition, line)) hits.push_back({definition, *value});
    // An empty match moves on by one character, so that the search always ends.
    std::size_t next = std::max(to, start);
    if (to <= start || from == to) {
      ++next;
      while (next < line.size() && (static_cast<unsigned char>(line[next]) & 0xc0) == 0x80) ++next;
    }
    start = next;
  }
  return matched;
}

MetricMatcher::MetricMatcher(std::vector<MetricDefinition> definitions,
                             std::vector<MetricCounts> counts)
    : state_(std::make_unique<State>()) {
  state_->definitions = std::move(definitions);
  state_->counts = std::move(counts);
  state_->counts.resize(state_->definitions.size());
  for (const auto& definition : state_->definitions)
    state_->compiled.push_back(compile(definition.regex));
}

MetricMatcher::~MetricMatcher() = default;
MetricMatcher::MetricMatcher(MetricMatcher&&) noexcept = default;
MetricMatcher& MetricMatcher::operator=(MetricMatcher&&) noexcept = default;

std::vector<MetricHit> MetricMatcher::match(std::string_view line) {
  std::vector<MetricHit> hits;
  std::optional<std::string> escaped;
  for (std::size_t i = 0; i < state_->definitions.size(); ++i) {
    if (!state_->compiled[i].regex) continue;
    if (state_->counts[i].too_expensive >= expensive_lines_until_rest) continue;
    if (state_->search(i, line, hits) || !has_control(line)) continue;
    if (!escaped) escaped = escape_control(line);
    state_->search(i, *escaped, hits);
  }
  return hits;
}

const std::vector<MetricDefinition>& MetricMatcher::definitions() const {
  return state_->definitions;
}
const std::vector<MetricCounts>& MetricMatcher::counts() const { return state_->counts; }
const std::string& MetricMatcher::regex_error(std::size_t definition) const {
  return state_->compiled.at(definition).error;
}

std::vector<std::string> metric_warnings(const MetricDefinition& definition,
                                         const MetricCounts& counts,
                                         const std::string& regex_error) {
  const std::string who = "metric '" + definition.name + "': ";
  std::vector<std::string> out;
  if (!regex_error.empty())
    out.push_back(who + "the regex " + definition.regex + " does not compile: " + regex_error);
  if (counts.texts > 0)
    out.push_back(who + "the regex " + definition.regex + " took \"" + counts.text_example +
                  "\", which is not a number; such matches are left out (" +
                  std::to_string(counts.texts) + " so far)");
  if (counts.partial > 0)
    out.push_back(who + "the regex " + definition.regex + " took only \"" + counts.partial_example +
                  "\" of the number \"" + counts.partial_whole + "\"; such values are left out (" +
                  std::to_string(counts.partial) +
                  " so far). ([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?) takes whole numbers");
  if (counts.not_finite > 0)
    out.push_back(who + "reported " + counts.not_finite_example + "; nan and inf are left out (" +
                  std::to_string(counts.not_finite) + " so far)");
  if (counts.other_group > 0)
    out.push_back(who +
                  "the value is not in the regex's first group but in a later one; name it "
                  "(?P<value>...) to say which");
  if (counts.too_expensive > 0)
    out.push_back(
        who + "the regex " + definition.regex + " is too expensive on " +
        std::to_string(counts.too_expensive) + " line(s), which were passed over" +
        (counts.too_expensive >= expensive_lines_until_rest ? "; it is no longer applied" : ""));
  return out;
}

std::optional<std::string> check_metric_regex(const std::string& regex) {
  auto compiled = Regex::compile(regex);
  if (compiled) return std::nullopt;
  return compiled.error().text();
}

std::string escape_control(std::string_view line) {
  std::string out;
  out.reserve(line.size() + 8);
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
      continue;
    }
    out += '#';
    out += static_cast<char>('0' + (byte >> 6));
    out += static_cast<char>('0' + ((byte >> 3) & 7));
    out += static_cast<char>('0' + (byte & 7));
  }
  return out;
}

}  // namespace meridian::region::telemetry
