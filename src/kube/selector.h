// Label and field selectors: `app=web,tier in (a,b),!canary` and `metadata.name=a,status.phase!=b`.
//
// Source: Kubernetes "Labels and Selectors"; requirements are joined by AND; `!=` and `notin` also
// match objects without the label.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::kube {

struct Requirement {
  enum class Operator { in, not_in, exists, does_not_exist, greater, less } op;
  std::string key;
  std::vector<std::string> values;
};

class LabelSelector {
 public:
  LabelSelector() = default;  // matches everything
  bool matches(const base::Json& object) const;
  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  friend base::Result<LabelSelector> parse_label_selector(std::string_view text);
  std::vector<Requirement> requirements_;
};

// Bounded: 16 KiB, 1,000 requirements. The error's offset points into `text`.
base::Result<LabelSelector> parse_label_selector(std::string_view text);

class FieldSelector {
 public:
  struct Term {
    std::string path;  // "metadata.name"
    std::string value;
    enum class Operator { equals, differs } op = Operator::equals;
  };
  FieldSelector() = default;
  bool matches(const base::Json& object) const;  // a missing field reads as ""
  bool empty() const { return terms_.empty(); }
  const std::vector<Term>& terms() const { return terms_; }

 private:
  friend base::Result<FieldSelector> parse_field_selector(std::string_view text);
  std::vector<Term> terms_;
};
// Which paths a resource supports is the caller's to check (terms()).
base::Result<FieldSelector> parse_field_selector(std::string_view text);

}  // namespace meridian::kube
