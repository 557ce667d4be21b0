// From text to nodes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/cel/node.h"

namespace meridian::kube::cel {

struct Parsed {
  std::shared_ptr<const Node> root;
  std::set<std::string, std::less<>> variables;  // that no macro binds
};
base::Result<Parsed> parse(std::string_view text);

}  // namespace meridian::kube::cel
