// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/reads.h"

#include <algorithm>
#include <array>

namespace meridian::kube::cel {
namespace {

using Kind = Node::Kind;
using Chains = std::vector<std::vector<std::string>>;

bool names_a_member(const Node& node) {
  return node.kind == Kind::select || node.kind == Kind::has;
}

void collect(const Node& node, std::string_view variable, Chains& chains) {
  if (names_a_member(node)) {
    std::vector<std::string> names;
    const Node* at = &node;
    for (; names_a_member(*at); at = at->parts[0].get()) names.push_back(at->name);
    if (at->kind == Kind::variable && at->name == variable) {
      std::ranges::reverse(names);
      chains.push_back(std::move(names));
    } else {
      collect(*at, variable, chains);
    }
    return;
  }
  // A macro may bind a variable of the same name for its bodies.
  const bool hidden = node.kind == Kind::comprehension && node.variable == variable;
  for (std::size_t i = 0; i < (hidden ? 1 : node.parts.size()); ++i) {
    collect(*node.parts[i], variable, chains);
  }
}

}  // namespace

Chains reads_of(const Node& node, std::string_view variable) {
  Chains chains;
  collect(node, variable, chains);
  return chains;
}

std::string unescaped(std::string_view name) {
  struct Escape {
    std::string_view escape, meaning;
  };
  static constexpr std::array<Escape, 4> escapes = {
      Escape{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}};
  std::string out;
  const std::string_view whole = name;
  while (!name.empty()) {
    const auto* found = escapes.begin();
    while (found != escapes.end() && !name.starts_with(found->escape)) ++found;
    if (found != escapes.end()) {
      out += found->meaning;
      name.remove_prefix(found->escape.size());
    } else {
      out += name.front();
      name.remove_prefix(1);
    }
  }
  const bool keyword =
      out == whole && out.size() > 4 && out.starts_with("__") && out.ends_with("__");
  return keyword ? out.substr(2, out.size() - 4) : out;
}

}  // namespace meridian::kube::cel
