// Server-side apply: who owns which field, and what happens when two want the same.
//
// Ownership is a set of field paths per manager, operation, version and subresource, in the wire
// form of metadata.managedFields (fieldsV1: "f:spec", "k:{\"name\":\"a\"}", "v:…", "i:…"). Lists
// are atomic, sets or maps as the schema's x-kubernetes-list-type says; without a schema they are
// atomic.
//
// Promises:
//   1. Applying the same object twice changes nothing, not even a time.
//   2. A field that somebody else owns changes only by force, and then changes hands.
//   3. A field that a manager applied before and now leaves out goes, unless someone else owns it.
//   4. After any write each field that it changed belongs to the writer alone.
//
// Never tracked: apiVersion, kind, and of metadata: name, namespace, uid, resourceVersion,
// generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, selfLink,
// generateName, managedFields. At most 10 entries of operation Update are kept apart: older ones
// join as "ancient-changes".
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

// The object after `applied` (a partial object) by `manager`. StatusError(409, Conflict) with one
// cause FieldManagerConflict per field when others own a field with another value and `force` is
// no; 400 when `applied` carries managedFields or names an item of a list twice. `live` null:
// creation.
base::Json apply_server_side(const base::Json* live, const base::Json& applied,
                             const Manager& manager, Force force, const Schema* schema,
                             base::Timestamp now);

// The object's managedFields after an ordinary write (create, update, patch) by `manager`: what
// changed from `before` (null on creation) is now its own and nobody else's. The managedFields that
// `after` brings count as the ones before the write; without them (or with []) those of `before`
// do, and [{}] forgets them all.
void track_update(const base::Json* before, base::Json& after, const Manager& manager,
                  const Schema* schema, base::Timestamp now);

}  // namespace meridian::kube
