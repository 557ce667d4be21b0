// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/metric_doctor.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"
#include "region/telemetry/regex.h"

namespace meridian::region::telemetry {
namespace {

constexpr std::size_t most_shown = 2;
constexpr std::size_t longest_shown = 160;
constexpr std::size_t shortest_word = 3;
constexpr std::size_t most_probed = 2000;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

void add_words(std::string_view text, std::vector<std::string>& words) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {  // an escape is no word
      ++i;
      continue;
    }
    if (i < text.size() && is_word(text[i])) {
      word += text[i];
      continue;
    }
    if (word.size() >= shortest_word) words.push_back(base::to_lower(word));
    word.clear();
  }
}

// What a line that was meant would probably contain.
std::vector<std::string> telling_words(const MetricDefinition& definition) {
  std::vector<std::string> words;
  add_words(definition.regex, words);
  add_words(definition.name, words);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::string shown(const std::string& line) {
  std::string text = base::to_valid_utf8(escape_control(line));
  if (text.size() <= longest_shown) return text;
  return std::string(base::utf8_prefix(text, longest_shown)) + "…";
}

std::vector<std::string> nearest_lines(const MetricDefinition& definition,
                                       const std::vector<std::string>& sample) {
  const auto words = telling_words(definition);
  std::vector<std::pair<std::size_t, const std::string*>> scored;
  for (const auto& line : sample) {
    const std::string low = base::to_lower(line);
    std::size_t score = 0;
    for (const auto& word : words) score += low.find(word) != std::string::npos ? 2 : 0;
    if (score > 0 &&
        std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      ++score;
    if (score > 0) scored.emplace_back(score, &line);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> out;
  for (const auto& [score, line] : scored) {
    if (out.size() == most_shown) break;
    std::string text = shown(*line);
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  }
  return out;
}

bool would_match(const std::string& pattern, RegexOption option,
                 const std::vector<std::string>& sample) {
  auto regex = Regex::compile(pattern, option);
  if (!regex) return false;
  const std::size_t count = std::min(sample.size(), most_probed);
  return std::any_of(
      sample.end() - static_cast<std::ptrdiff_t>(count), sample.end(),
      [&](const std::string& line) { return regex->search(line, 0) == Regex::Outcome::match; });
}

std::string with_loose_blanks(const std::string& pattern) {
  std::string out;
  for (const char c : pattern)
    if (c != ' ')
      out += c;
    else if (!out.ends_with("\\s*"))
      out += "\\s*";
  // Blanks around '=' and ':' are what differs most often.
  out = base::replace_all(out, "=", "\\s*=\\s*");
  return base::replace_all(out, ": ", ":\\s*");
}

// A variant of the regex that matches says what is wrong with it.
std::optional<std::string> likely_cause(const MetricDefinition& definition,
                                        const std::vector<std::string>& sample) {
  const std::string& regex = definition.regex;
  if (would_match(regex, RegexOption::ignore_case, sample))
    return "it matches when upper and lower case are ignored";
  if (regex.find("\\\\") != std::string::npos &&
      would_match(base::replace_all(regex, "\\\\", "\\"), RegexOption::none, sample))
    return "its backslashes are doubled; it matches with single ones";
  if (would_match(with_loose_blanks(regex), RegexOption::none, sample))
    return "it matches when blanks may be more or fewer";
  if ((regex.starts_with("^") || regex.ends_with("$")) &&
      would_match(std::string(base::trim(base::replace_all(
                      regex.starts_with("^") ? regex.substr(1) : regex, "$", ""))),
                  RegexOption::none, sample))
    return "it matches without ^ and $: the lines have more before or after it";
  return std::nullopt;
}

std::string describe(const DoctorCase::Patient& patient, const DoctorCase& job) {
  const MetricDefinition& definition = patient.definition;
  const std::string error = check_metric_regex(definition.regex).value_or("");
  auto known = metric_warnings(definition, patient.counts, error);
  if (!known.empty()) return base::join(known, "\n");
  std::string out = "metric '" + definition.name + "': the regex " + definition.regex +
                    " matched none of " + std::to_string(job.lines_read) + " lines";
  if (job.lines_read == 0) return out + ": the program printed nothing";
  if (const auto cause = likely_cause(definition, job.sample)) out += "; " + *cause;
  const auto lines = nearest_lines(definition, job.sample);
  if (lines.empty()) return out + ". No line has a word of the regex or of the metric's name";
  out += ". Nearest lines:";
  for (const auto& line : lines) out += "\n    " + line;
  return out;
}

}  // namespace

std::optional<std::string> diagnose(const DoctorCase& job) {
  std::vector<std::string> out;
  for (const auto& patient : job.patients)
    if (patient.counts.values == 0) out.push_back(describe(patient, job));
  if (out.empty()) return std::nullopt;
  return base::join(out, "\n");
}

}  // namespace meridian::region::telemetry
