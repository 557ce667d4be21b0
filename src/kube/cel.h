// The Common Expression Language as far as CRD validation rules need it.
//
//   auto rule = compile_cel("self.maxWait >= self.maxRun || !has(self.maxWait)");
//   auto verdict = rule->evaluate({{"self", spec}});   // Result<bool, std::string>
//
// Types: null, bool, int (64 bits), uint, double, string, bytes, list, map, duration, timestamp.
// Operators, ?:, in, has(), size(), macros all/exists/exists_one/map/filter, string functions
// (startsWith, endsWith, contains, matches, lowerAscii, upperAscii, trim, split, join, replace,
// substring, indexOf), list functions (isSorted, sum, min, max, indexOf), optional types are not
// supported and do not compile. Cost is bounded: evaluation past 1,000,000 steps is an error.
// Dynamic typing: a type clash is an error at evaluation, as the language says.
//
// Source: the CEL language definition; Kubernetes "Common Expression Language in Kubernetes".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kube {

class CelProgram {
 public:
  struct Node;
  explicit CelProgram(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  using Variables = std::map<std::string, const base::Json*, std::less<>>;
  // The value as JSON, or why not ("no such key: maxWait").
  base::Result<base::Json, std::string> evaluate(const Variables& variables) const;
  // The rule's verdict; a value that is not a bool is an error.
  base::Result<bool, std::string> test(const Variables& variables) const;
  bool uses(std::string_view variable) const;  // "oldSelf": a transition rule

 private:
  std::shared_ptr<const Node> root_;
};

// Bounded: 10 KiB of text, depth 64.
base::Result<CelProgram> compile_cel(std::string_view text);

}  // namespace meridian::kube
