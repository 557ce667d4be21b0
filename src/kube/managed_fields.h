// Server-side apply: who owns which field, and what happens when two want the same.
//
// Ownership is a set of field paths per manager, operation, version and subresource, in the wire
// form of metadata.managedFields (fieldsV1: "f:spec", "k:{\"name\":\"a\"}", "v:…", "i:…"). Lists
// are atomic, sets or maps as the schema's x-kubernetes-list-type says; without a schema they are
// atomic.
//
// Source: Kubernetes "Server-Side Apply"; structured-merge-diff's documented semantics.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "kube/schema.h"

namespace meridian::kube {

struct Manager {
  std::string name;         // fieldManager
  std::string api_version;  // of the object it wrote
  std::string subresource;  // "" or "status"
};

enum class Force { no, yes };

// The object after `applied` (a partial object) by `manager`. Fields that this manager applied
// before and now leaves out are removed unless someone else owns them. StatusError(409, Conflict)
// with one cause FieldManagerConflict per field when others own a field with another value and
// `force` is no. `live` null: creation.
base::Json apply_server_side(const base::Json* live, const base::Json& applied,
                             const Manager& manager, Force force, const Schema* schema,
                             base::Timestamp now);

// The object's managedFields after an ordinary write (create, update, patch) by `manager`: what
// changed from `before` (null on creation) is now its own and nobody else's.
void track_update(const base::Json* before, base::Json& after, const Manager& manager,
                  const Schema* schema, base::Timestamp now);

}  // namespace meridian::kube
