// The simple JSONPath of printer columns and selectable fields.
//
//   .status.conditions[?(@.type=="Ready")].status     .metadata.annotations.example\.com/a
//   .spec.items[0].name   .spec['a.b']   .spec.items[*].name   {.spec.a}
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kube {

class JsonPath {
 public:
  // The first value that the path leads to; null when there is none. Points into `value`.
  const base::Json* find(const base::Json& value) const;
  // Dotted, when the path is made of plain names: what a field selector calls it.
  std::string dotted() const;

 private:
  struct Step {
    enum class Kind { member, index, every, where } kind;
    std::string name;  // member; for `where`: dotted path below the element
    std::int64_t index = 0;
    base::Json wanted;
  };
  friend base::Result<JsonPath> parse_json_path(std::string_view text);
  friend class JsonPathParser;
  const base::Json* find(const base::Json& value, std::size_t step) const;
  std::vector<Step> steps_;
};

// Bounded: 1 KiB, 32 steps.
base::Result<JsonPath> parse_json_path(std::string_view text);

}  // namespace meridian::kube
