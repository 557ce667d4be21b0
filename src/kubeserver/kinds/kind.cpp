// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/kind.h"

namespace meridian::kubeserver::kinds {

std::vector<std::string> Served::verbs() const {
  if (!is_stored()) return {"create"};
  // In Kubernetes' own orders.
  if (kind == nullptr)
    return {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

std::vector<std::string> Served::subresources() const {
  if (has_status()) return {"status"};
  return {};
}

// A CustomResourceDefinition's group has a dot, so nobody else's is "core".
std::string collection_of(std::string_view group, std::string_view plural) {
  return (group.empty() ? "core" : std::string(group)) + "/" + std::string(plural);
}

}  // namespace meridian::kubeserver::kinds
