// CloudWatch Logs filter patterns: which messages does FilterLogEvents show?
//
//   ERROR "out of memory" -debug        every term contained, none of those after '-'
//   ?ERROR ?WARN                        at least one of them
//   { $.loss < 0.5 && $.host = "algo-*" }    fields of a JSON message
//
// Terms are compared with upper and lower case. JSON patterns know = != < <= > >=, IS NULL,
// IS TRUE, IS FALSE, NOT EXISTS, && || and parentheses, [n] for elements, * in strings. Patterns
// for columns ([a, b]) and regular expressions (%…%) are refused.
//
// Immutable after parse: safe from any thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace meridian::region::telemetry {

class MessageFilter {
 public:
  virtual ~MessageFilter() = default;
  virtual bool matches(std::string_view message) const = 0;
};

// Any pattern; the empty one matches everything.
base::Result<std::shared_ptr<const MessageFilter>> parse_filter(std::string_view pattern);
// One in braces.
base::Result<std::shared_ptr<const MessageFilter>> parse_json_filter(std::string_view pattern);

}  // namespace meridian::region::telemetry
