// One compiled regular expression with bounded cost: PCRE2's compiler behind a plain face.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::region::telemetry {

// Where a group lies in the subject; unset groups have no value.
using GroupSpan = std::optional<std::pair<std::size_t, std::size_t>>;

enum class RegexOption { none, ignore_case };

// Python's notation in PCRE2's: \Z, \uXXXX, \UXXXXXXXX, {,n}, flags (?aLu).
std::string from_python_notation(std::string_view pattern);

// Not thread-safe.
class Regex {
 public:
  enum class Outcome { match, no_match, too_expensive };

  static base::Result<Regex> compile(std::string_view pattern,
                                     RegexOption option = RegexOption::none);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // Looks for the next match from `start` on, which is at most the subject's size. Any bytes are
  // fine: what is not UTF-8 never matches.
  Outcome search(std::string_view subject, std::size_t start);
  const std::vector<GroupSpan>& groups() const;  // of the last match; [0] = the whole
  std::optional<std::size_t> group_named(const std::string& name) const;
  std::size_t group_count() const;  // without the whole match

 private:
  Regex();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::telemetry
