// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/filter_pattern.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace meridian::region::telemetry {
namespace {

using Parsed = base::Result<std::shared_ptr<const MessageFilter>>;
constexpr std::size_t longest_pattern = 1024;

class Terms final : public MessageFilter {
 public:
  std::vector<std::string> all, any, none;

  bool matches(std::string_view message) const override {
    const auto contained = [&](const std::string& term) {
      return message.find(term) != std::string_view::npos;
    };
    return std::all_of(all.begin(), all.end(), contained) &&
           (any.empty() || std::any_of(any.begin(), any.end(), contained)) &&
           std::none_of(none.begin(), none.end(), contained);
  }
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A term at pattern[at], quoted or plain; moves `at` behind it. Nothing: the quote does not end.
std::optional<std::string> take_term(std::string_view pattern, std::size_t& at) {
  std::string out;
  if (pattern[at] != '"') {
    while (at < pattern.size() && !is_blank(pattern[at])) out += pattern[at++];
    return out;
  }
  for (++at; at < pattern.size(); ++at) {
    if (pattern[at] == '"') {
      ++at;
      return out;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    out += pattern[at];
  }
  return std::nullopt;
}

Parsed parse_terms(std::string_view pattern) {
  auto terms = std::make_shared<Terms>();
  for (std::size_t at = 0; at < pattern.size();) {
    if (is_blank(pattern[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    std::vector<std::string>* list = &terms->all;
    if (pattern[at] == '?' || pattern[at] == '-') {
      list = pattern[at] == '?' ? &terms->any : &terms->none;
      if (++at == pattern.size() || is_blank(pattern[at]))
        return base::ParseError{"a term is missing after ? or -", start};
    }
    if (pattern[at] == '%')
      return base::ParseError{"regular expressions (%...%) are not supported", at};
    auto term = take_term(pattern, at);
    if (!term) return base::ParseError{"the quote does not end", start};
    list->push_back(std::move(*term));
  }
  return std::shared_ptr<const MessageFilter>(std::move(terms));
}

}  // namespace

Parsed parse_filter(std::string_view pattern) {
  if (pattern.size() > longest_pattern) return base::ParseError{"longer than 1024 bytes"};
  const std::string_view trimmed = base::trim(pattern);
  if (trimmed.starts_with("{")) return parse_json_filter(trimmed);
  if (trimmed.starts_with("["))
    return base::ParseError{"patterns for columns ([...]) are not supported"};
  return parse_terms(trimmed);
}

}  // namespace meridian::region::telemetry
