// The words of an expression.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::kube::cel {

struct Token {
  enum class Kind { identifier, integer, unsigned_integer, number, text, bytes, symbol, end } kind;
  std::string text;           // decoded for text and bytes; as written otherwise
  std::uint64_t integer = 0;  // magnitude: the sign is an operator
  double number = 0;
  std::size_t offset = 0;
};

// Ends with a token of kind `end`.
base::Result<std::vector<Token>> tokenize(std::string_view text);

}  // namespace meridian::kube::cel
