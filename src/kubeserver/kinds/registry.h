// Everything that is served at one moment: the built-in resources and those of the established
// CustomResourceDefinitions.
//
// Immutable; requests keep the one they began with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubeserver/kinds/kind.h"

namespace meridian::kubeserver::kinds {

using ServedPtr = std::shared_ptr<const Served>;

struct Group {
  std::string name;                   // "" = core
  std::vector<std::string> versions;  // the preferred one first
};

class Registry {
 public:
  explicit Registry(std::vector<ServedPtr> all);

  ServedPtr find(std::string_view group, std::string_view version, std::string_view plural) const;
  ServedPtr find_kind(std::string_view group, std::string_view kind) const;  // any version
  // One version of each stored collection.
  std::vector<ServedPtr> collections() const;
  // In the order of groups, versions and plurals.
  const std::vector<ServedPtr>& all() const { return all_; }
  std::vector<ServedPtr> of(std::string_view group, std::string_view version) const;
  std::vector<Group> groups() const;

 private:
  std::vector<ServedPtr> all_;
};

// The versions of one definition that are served; empty until it is established.
// StatusError(422) when it is not sound.
std::vector<ServedPtr> served_by(const base::Json& definition);

// v2 before v1 before v1beta2 before v1alpha1; others after, by name.
// Source: Kubernetes "Version priority".
bool is_preferred_version(std::string_view a, std::string_view b);

}  // namespace meridian::kubeserver::kinds
