// What clients may say about a write, and what comes of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "kube/managed_fields.h"
#include "kubeserver/kinds/kind.h"

namespace meridian::kubeserver::objects {

enum class Run { real, dry };

struct WriteOptions {
  std::string field_manager = "unknown";
  // What becomes of fields that the schema does not know. Nothing: the group's default.
  enum class Unknown { drop, warn, refuse };
  std::optional<Unknown> unknown = std::nullopt;
  Run run = Run::real;
  kube::Force force = kube::Force::no;
  std::string user;
};

struct Written {
  base::Json object;
  enum class Did { created, updated, nothing } did = Did::updated;
  std::vector<std::string> warnings;
};

enum class PatchKind { json, merge, strategic, apply };

enum class Propagation { background, foreground, orphan };

struct RemoveOptions {
  std::optional<Propagation> propagation = std::nullopt;  // nothing: background
  std::string uid, resource_version;                      // preconditions; "" = none
  Run run = Run::real;
  std::string user;
};

struct Removed {
  base::Json object;  // as it was, or as it is while finalizers hold it
  bool gone = false;
};

// What happened to an object, for those who must act on it: the garbage collector, namespaces,
// definitions.
struct Aftermath {
  const kinds::Served& served;
  const base::Json& object;
  bool gone = false;
  bool new_owners = false;  // it has owners that it did not have before
};

}  // namespace meridian::kubeserver::objects
