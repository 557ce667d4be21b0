// Nodes to values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kube/cel/cel.h"
#include "kube/cel/node.h"

namespace meridian::kube::cel {

class Evaluator {
 public:
  Evaluator(const CelProgram::Variables& variables, Meter& meter)
      : variables_(variables), meter_(meter) {}
  Value run(const Node& node);

 private:
  Value run_kind(const Node& node);
  Value variable(const Node& node) const;
  Value member(const Node& node);
  Value indexed(const Node& node);
  Value call(const Node& node);
  Value list(const Node& node);
  Value map(const Node& node);
  Value conditional(const Node& node);
  Value joined(const Node& node, bool decisive);
  Value chain(const Node& node);
  Value relation(const Node& node);
  Value logical_not(const Node& node);
  Value comprehension(const Node& node);
  Value quantified(const Node& node, const Value& range, bool decisive);
  Value counted(const Node& node, const Value& range);
  Value collected(const Node& node, const Value& range);
  Value body(const Node& node, std::size_t part, const Value& item);

  const CelProgram::Variables& variables_;
  Meter& meter_;
  std::vector<std::pair<std::string_view, Value>> scope_;  // what macros bind, innermost last
};

}  // namespace meridian::kube::cel
