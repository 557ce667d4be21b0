// What an expression reads of its variables, without running it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/cel/node.h"

namespace meridian::kube::cel {

// The members named one after another from `variable`, as they stand: "self.a.b == self.c" reads
// {a, b} and {c}. A chain ends where something else begins (an index, a call).
std::vector<std::vector<std::string>> reads_of(const Node& node, std::string_view variable);

// Kubernetes' escapes of names that are no identifiers, undone: "a__dash__b", "__namespace__".
std::string unescaped(std::string_view name);

}  // namespace meridian::kube::cel
