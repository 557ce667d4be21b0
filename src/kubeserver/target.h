// What a request is about: the parts of its path, its query, what it means to do.
//
// Source: Kubernetes "API concepts": resource URIs and verbs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http.h"

namespace meridian::kubeserver {

// A resource, or an object in it. The root path of a group or version has an empty plural.
struct Target {
  std::string group, version, plural, ns, name, subresource;
};

// Nothing for paths that are not below /api/v1 or /apis/GROUP/VERSION, and for broken escapes.
std::optional<Target> parse_target(std::string_view raw_path);

class Query {
 public:
  explicit Query(std::string_view raw_query);
  std::string get(std::string_view name) const;  // "" when absent
  bool has(std::string_view name) const;
  bool flag(std::string_view name) const;  // true, 1; StatusError(400) for other words than 0/false
  std::optional<std::int64_t> number(std::string_view name) const;  // StatusError(400)

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"; "" for a
// method that means nothing here.
std::string_view verb_of(std::string_view method, const Target& target, const Query& query);

}  // namespace meridian::kubeserver
