// YAML 1.2 core schema into the JSON value, with the position of every node kept for messages.
//
// Bounded: 16 MiB, depth 64, 100,000 nodes, aliases expand to at most 100,000 nodes together.
// Duplicate keys, non-string keys and unknown tags are errors. Several documents in one stream are
// several values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace meridian::base {

struct Position {
  int line = 0;    // 1-based
  int column = 0;  // 1-based
};

struct YamlDocument {
  Json value;
  // Path ("spec.inputDataConfig[0].channelName"; "" is the root) → where the value starts.
  std::map<std::string, Position, std::less<>> positions;

  // The position of `path`, or of its nearest known ancestor.
  Position position_of(std::string_view path) const;
};

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text);

}  // namespace meridian::base
