// SPDX-License-Identifier: Apache-2.0
#include "kube/labels.h"

#include <fmt/format.h>

#include <algorithm>

namespace meridian::kube {
namespace {

constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_subdomain = 253;

// As Kubernetes shows them.
constexpr std::string_view label_regex = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view name_regex = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

std::string with_examples(std::string_view rule, std::string_view examples,
                          std::string_view regex) {
  return fmt::format("{} (e.g. {}, regex used for validation is '{}')", rule, examples, regex);
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

// Not empty, letters and digits of `is_plain` at both ends, these or `punctuation` between.
template <class IsPlain>
bool is_framed(std::string_view text, IsPlain is_plain, std::string_view punctuation) {
  if (text.empty() || !is_plain(text.front()) || !is_plain(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_plain(c) || punctuation.find(c) != std::string_view::npos;
  });
}

std::optional<std::string> why_too_long(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::nullopt;
  return fmt::format("must be no more than {} characters", longest);
}

bool is_subdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_framed(text.substr(0, dot), is_lower_or_digit, "-")) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

std::optional<std::string> why_not_label_key(std::string_view text) {
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (prefix.empty()) return "prefix part must be non-empty";
    if (const auto why = why_not_subdomain(prefix)) return "prefix part " + *why;
  }
  if (name.empty()) return "name part must be non-empty";
  if (const auto why = why_too_long(name, longest_label)) return "name part " + *why;
  if (is_framed(name, is_alphanumeric, "-_.")) return std::nullopt;
  return with_examples(
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character",
      "'MyName',  or 'my.name',  or '123-abc'", name_regex);
}

std::optional<std::string> why_not_label_value(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (const auto why = why_too_long(text, longest_label)) return why;
  if (is_framed(text, is_alphanumeric, "-_.")) return std::nullopt;
  return with_examples(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
      "'.', and must start and end with an alphanumeric character",
      "'MyValue',  or 'my_value',  or '12345'", fmt::format("({})?", name_regex));
}

std::optional<std::string> why_not_dns_label(std::string_view text) {
  if (const auto why = why_too_long(text, longest_label)) return why;
  if (is_framed(text, is_lower_or_digit, "-")) return std::nullopt;
  return with_examples(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character",
      "'my-name',  or '123-abc'", label_regex);
}

std::optional<std::string> why_not_dns_1035_label(std::string_view text) {
  if (const auto why = why_too_long(text, longest_label)) return why;
  if (is_framed(text, is_lower_or_digit, "-") && is_lower(text.front())) return std::nullopt;
  return with_examples(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
      "alphabetic character, and end with an alphanumeric character",
      "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?");
}

std::optional<std::string> why_not_subdomain(std::string_view text) {
  if (const auto why = why_too_long(text, longest_subdomain)) return why;
  if (is_subdomain(text)) return std::nullopt;
  return with_examples(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character",
      "'example.com'", fmt::format("{0}(\\.{0})*", label_regex));
}

std::optional<std::string> why_not_path_segment(std::string_view text) {
  if (text == "." || text == "..") return fmt::format("may not be '{}'", text);
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) return fmt::format("may not contain '{}'", c);
  }
  return std::nullopt;
}

}  // namespace meridian::kube
