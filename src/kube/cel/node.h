// A parsed expression.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/cel/functions.h"
#include "kube/cel/regex.h"
#include "kube/cel/value.h"

namespace meridian::kube::cel {

struct Node {
  enum class Kind {
    literal,
    variable,       // name
    select,         // parts[0].name
    has,            // has(parts[0].name)
    index,          // parts[0][parts[1]]
    call,           // function(parts…); of a method parts[0] is what it is called on
    list,           // parts
    map,            // keys and values by turns
    conditional,    // parts[0] ? parts[1] : parts[2]
    both,           // parts joined by &&
    either,         // parts joined by ||
    chain,          // parts joined by operators of one precedence, from the left
    relation,       // parts[0] name parts[1]: < <= > >= == != in
    logical_not,    // !parts[0]
    negation,       // -parts[0]
    comprehension,  // macro name over parts[0] with `variable`; bodies parts[1…]
  } kind;
  std::size_t offset = 0;
  int depth = 1;
  std::string name, variable;
  Value literal{Null{}};
  std::vector<std::shared_ptr<const Node>> parts;
  std::string operators;  // of a chain: one character each
  const Function* function = nullptr;
  std::optional<Regex> regex;  // of matches with a literal pattern
};

}  // namespace meridian::kube::cel
