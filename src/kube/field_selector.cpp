// The grammar of field selectors: `path=value` terms joined by commas; \\, \, and \= stand for
// themselves in values.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "kube/selector.h"

namespace meridian::kube {
namespace {

using Term = FieldSelector::Term;
constexpr std::size_t longest_text = 16 * 1024;
constexpr std::size_t most_terms = 1'000;

// The next `wanted` that no backslash precedes, from `at`; text.size() when there is none.
std::size_t find_plain(std::string_view text, char wanted, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == wanted) {
      return at;
    }
  }
  return text.size();
}

base::Result<std::string> unescaped(std::string_view text, std::size_t offset) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=') {
      return base::ParseError{.message = "'=' in a value is written \\=", .offset = offset + i};
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
      return base::ParseError{.message = "a backslash stands before '\\', ',' or '=' only",
                              .offset = offset + i - 1};
    }
    out += text[i];
  }
  return out;
}

base::Result<Term> parse_term(std::string_view text, std::size_t offset) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return base::ParseError{
        .message = fmt::format("'{}' is no requirement: PATH=VALUE or PATH!=VALUE", text),
        .offset = offset};
  }
  Term out;
  std::size_t end = equals;
  std::size_t start = equals + 1;
  if (end > 0 && text[end - 1] == '!') {
    out.op = Term::Operator::differs;
    --end;
  } else if (start < text.size() && text[start] == '=') {
    ++start;
  }
  out.path = base::trim(text.substr(0, end));
  if (out.path.empty()) {
    return base::ParseError{.message = "a requirement without a path", .offset = offset};
  }
  auto value = unescaped(text.substr(start), offset + start);
  if (!value) return value.error();
  out.value = std::move(*value);
  return out;
}

std::string field_text(const base::Json& object, std::string_view path) {
  const base::Json* value = base::find_path(object, path);
  if (value == nullptr || value->is_structured()) return "";
  return value->is_string() ? std::string(base::view(value->get_string())) : base::to_text(*value);
}

}  // namespace

bool FieldSelector::matches(const base::Json& object) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (field_text(object, term.path) == term.value) == (term.op == Term::Operator::equals);
  });
}

base::Result<FieldSelector> parse_field_selector(std::string_view text) {
  if (text.size() > longest_text) {
    return base::ParseError{.message = fmt::format("longer than {} bytes", longest_text)};
  }
  FieldSelector out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = find_plain(text, ',', at);
    if (end > at) {
      if (out.terms_.size() == most_terms) {
        return base::ParseError{.message = fmt::format("more than {} requirements", most_terms),
                                .offset = at};
      }
      auto term = parse_term(text.substr(at, end - at), at);
      if (!term) return term.error();
      out.terms_.push_back(std::move(*term));
    }
    at = end + 1;
  }
  return out;
}

}  // namespace meridian::kube
