// A set of field paths: what one manager owns of an object.
//
// A path is a chain of elements in the wire form of fieldsV1: "f:spec" (a member), "k:{…}" (the
// item of a list with these keys), "v:…" (the item of a set), "i:3" (an index).
//
// Source: Kubernetes "Server-Side Apply", FieldsV1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kube {

struct FieldSet {
  bool owned = false;  // the path that leads here is in the set
  std::map<std::string, FieldSet, std::less<>> below;

  bool operator==(const FieldSet&) const = default;
  bool empty() const { return !owned && below.empty(); }
  const FieldSet* find(std::string_view element) const;

  void add(const FieldSet& other);       // union
  void subtract(const FieldSet& other);  // what is in both goes
  FieldSet common(const FieldSet& other) const;
  std::vector<std::string> paths() const;  // ".spec.list[name=\"a\"].x", in order
};

base::Json to_fields_v1(const FieldSet& set);
// The message names the element that is none.
base::Result<FieldSet, std::string> parse_fields_v1(const base::Json& json);

std::string member_element(std::string_view name);
std::string keys_element(const base::Json& keys);    // an object of the keys and their values
std::string value_element(const base::Json& value);  // of a set

}  // namespace meridian::kube
