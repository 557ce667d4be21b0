// metadata.managedFields as a map from managers to what they own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "kube/field_set.h"

namespace meridian::kube {

enum class Operation { apply, update };

// One entry's identity. Appliers keep theirs when they apply another version.
struct ManagerKey {
  Operation operation = Operation::update;
  std::string name, subresource;
  std::string api_version;  // "" for appliers
  auto operator<=>(const ManagerKey&) const = default;
};

struct Ownership {
  FieldSet fields;
  std::string api_version;
  std::string time;  // RFC 3339, as it stood; "" when unknown
};

using Managers = std::map<ManagerKey, Ownership>;

// Entries that cannot be read own nothing and are dropped.
Managers read_managers(const base::Json& object);
// Written into the object; the member goes when there are none.
void write_managers(const Managers& managers, base::Json& object);
std::string shown(const ManagerKey& key, const Ownership& ownership);  // as conflicts name it

}  // namespace meridian::kube
