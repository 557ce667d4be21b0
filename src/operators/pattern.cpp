// SPDX-License-Identifier: Apache-2.0
#include "operators/pattern.h"

#include <cctype>
#include <cstdlib>

namespace meridian::operators {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// A repeat "{a,b}" that starts at `at`, with a bound past 1,000.
bool repeats_too_often(std::string_view pattern, std::size_t at) {
  std::size_t number = 0;
  for (std::size_t i = at + 1; i < pattern.size() && pattern[i] != '}'; ++i) {
    if (is_digit(pattern[i])) {
      number = number * 10 + static_cast<std::size_t>(pattern[i] - '0');
      if (number > 1000) return true;
    } else {
      number = 0;
    }
  }
  return false;
}

bool readable_by_re2(std::string_view p) {
  bool in_class = false;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == '\\') {
      ++i;
      if (i >= p.size()) return false;
      if (p[i] == 'u' || ((is_digit(p[i]) || p[i] == 'k') && !in_class)) return false;
      // General categories have one or two letters; Java's POSIX classes are longer.
      if ((p[i] == 'p' || p[i] == 'P') && p.find('}', i) - i > 4) return false;
      continue;
    }
    if (in_class) {
      // Java's nested classes and intersections mean something else there.
      if (p[i] == '[' || p.substr(i, 2) == "&&") return false;
      in_class = p[i] != ']';
      continue;
    }
    if (p[i] == '[') {
      in_class = true;
      if (i + 1 < p.size() && (p[i + 1] == ']' || p[i + 1] == '^')) ++i;
    } else if (p[i] == '(' && p.substr(i, 2) == "(?" && p.substr(i, 3) != "(?:") {
      return false;
    } else if (p[i] == '{' && (repeats_too_often(p, i) || (i > 0 && p[i - 1] == '$'))) {
      return false;
    } else if (p[i] == '+' && i > 0 && (p[i - 1] == '+' || p[i - 1] == '*' || p[i - 1] == '}')) {
      return i > 1 && p[i - 2] == '\\';
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> portable_pattern(std::string_view pattern) {
  if (pattern.empty() || pattern == ".*" || !readable_by_re2(pattern)) return std::nullopt;
  return "^(?:" + std::string(pattern) + ")$";
}

}  // namespace meridian::operators
