// The steps of a write that need neither the store nor the clock: pure functions on an object that
// is on its way into the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"
#include "kubeserver/objects/options.h"

namespace meridian::kubeserver::objects {

struct Draft {
  const kinds::Served& served;
  const WriteOptions& options;
  const base::Json& object;
  const base::Json* old;    // null on creation
  std::string subresource;  // "" or "status"
  bool by_apply = false;    // managedFields are settled already
};

std::string qualified_plural(const kinds::Served& served);  // "trainingjobs.sagemaker.…"

// apiVersion and kind must be those of the resource; built-in kinds may leave them out.
void check_type(const kinds::Served& served, base::Json& object);
// Sets namespace and (unless empty) name; StatusError(400) when the object says something else.
void set_place(const kinds::Served& served, base::Json& object, const kube::ObjectKey& key);
// Takes out what the kind does not know, and says so as the client wanted.
void clean(const kinds::Served& served, base::Json& object, WriteOptions::Unknown unknown,
           std::vector<std::string>& warnings);
// A write of the object leaves its status alone, one of its status leaves the rest.
void keep_other_part(const Draft& draft, base::Json& object);
void fill_in(const kinds::Served& served, base::Json& object, const base::Json* old);
// What metadata, schema and the kind's own rules find wrong.
std::vector<kube::Cause> faults_of(const kinds::Served& served, const base::Json& object,
                                   const base::Json* old);
bool same_but_managers(const base::Json& a, const base::Json& b);
// The same, and who manages what is the same too but for its time.
bool same_object(const base::Json& a, const base::Json& b);
void count_generation(const kinds::Served& served, base::Json& object, const base::Json* old);
void track_managers(const Draft& draft, base::Json& object, base::Timestamp now);

}  // namespace meridian::kubeserver::objects
