// The Common Expression Language as far as validation rules of CRDs need it.
//
//   auto rule = compile_cel("!has(self.maxWait) || self.maxWait >= self.maxRun");
//   auto verdict = rule->test({{"self", &spec}});   // Result<bool, std::string>
//
// Types: null, bool, int (64 bits), uint, double, string, bytes, list, map, duration, timestamp,
// type. Operators with CEL's precedence, ?:, in, has(); macros all, exists, exists_one, map,
// filter; conversions int uint double string bytes bool duration timestamp type dyn; size; of
// strings: startsWith endsWith contains matches find findAll lowerAscii upperAscii trim split join
// replace substring indexOf lastIndexOf charAt; of lists: isSorted sum min max indexOf lastIndexOf;
// getters of durations and timestamps (UTC and fixed offsets). Optional types, message construction
// and other functions do not compile.
//
// Typing is dynamic: a clash of types is an error when it is met; a cluster's checker may find it
// earlier. (Members that a schema does not have are found when a definition is made: reads_of.)
// Numbers of different types compare by value; arithmetic never mixes them. && and || forgive an
// error on one side when the other decides. Members whose names are no identifiers are written as
// Kubernetes escapes them (a__dash__b, __namespace__).
//
// Source: the CEL language definition; Kubernetes "Common Expression Language in Kubernetes".
//
// A program is immutable and thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kube {

namespace cel {
struct Node;
}

// How much evaluation may still cost: a step is a node, a handful of characters, or an element.
struct CelBudget {
  std::uint64_t steps = 1'000'000;
};

class CelProgram {
 public:
  using Variables = std::map<std::string, const base::Json*, std::less<>>;

  // The value as JSON, or why not ("no such key: maxWait"). Durations and timestamps become text,
  // bytes base64. `budget` may be shared by many evaluations; null: one of its own.
  base::Result<base::Json, std::string> evaluate(const Variables& variables,
                                                 CelBudget* budget = nullptr) const;
  // The rule's verdict; a value that is not a bool is an error.
  base::Result<bool, std::string> test(const Variables& variables,
                                       CelBudget* budget = nullptr) const;

  // The variables it reads ("oldSelf": a transition rule).
  const std::set<std::string, std::less<>>& variables() const { return variables_; }
  bool uses(std::string_view variable) const { return variables_.contains(variable); }
  // The members it reads of a variable: "self.a.b == self.c" reads {a, b} and {c} of self.
  std::vector<std::vector<std::string>> reads_of(std::string_view variable) const;

 private:
  friend base::Result<CelProgram> compile_cel(std::string_view text);
  CelProgram(std::shared_ptr<const cel::Node> root, std::set<std::string, std::less<>> variables)
      : root_(std::move(root)), variables_(std::move(variables)) {}

  std::shared_ptr<const cel::Node> root_;
  std::set<std::string, std::less<>> variables_;
};

// Bounded: 10 KiB of text, depth 64. The error's offset points into `text`.
base::Result<CelProgram> compile_cel(std::string_view text);

}  // namespace meridian::kube
