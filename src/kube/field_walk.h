// Objects walked together with their schema: which fields there are, what differs, how two merge.
//
// An object's members are its fields, unless x-kubernetes-map-type is atomic. A list is one field,
// unless x-kubernetes-list-type makes it a set or a map. Without a schema lists are atomic. The
// root's metadata has a schema of its own, whatever the object is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "kube/field_set.h"
#include "kube/schema.h"

namespace meridian::kube {

// All fields of an applied object. Throws bad_request when a list of type set or map holds the same
// item twice.
FieldSet fields_of(const Schema* schema, const base::Json& object);

struct Changes {
  FieldSet added, modified, removed;
  bool none() const { return added.empty() && modified.empty() && removed.empty(); }
};
Changes compare_fields(const Schema* schema, const base::Json& before, const base::Json& after);

// `live` with what `applied` says; lists of type set and map keep the live items, in place.
base::Json merge_fields(const Schema* schema, const base::Json& live, const base::Json& applied);

// Removes from `object` what is in `lost` and not in `kept`, and what then is empty and was not
// kept itself.
void remove_fields(const Schema* schema, base::Json& object, const FieldSet& lost,
                   const FieldSet& kept);

}  // namespace meridian::kube
