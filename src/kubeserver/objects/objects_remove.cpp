// Removing, and edits by the controllers of this server.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kube/object.h"
#include "kubeserver/objects/definitions.h"
#include "kubeserver/objects/objects.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using kinds::Served;
using kube::ObjectKey;
using kube::StatusError;

namespace {

void check_preconditions(const Served& served, const Json& current, const RemoveOptions& options) {
  const auto check = [&](std::string_view what, const std::string& wanted,
                         const std::string& actual) {
    if (wanted.empty() || wanted == actual) return;
    throw kube::conflict(served.group(), served.plural(), kube::name_of(current),
                         fmt::format("Precondition failed: {} in precondition: {}, {} in object "
                                     "meta: {}",
                                     what, wanted, what, actual));
  };
  check("UID", options.uid, kube::uid_of(current));
  check("ResourceVersion", options.resource_version, kube::resource_version_of(current));
}

void check_removable(const Served& served, const Json& current) {
  const std::string name = kube::name_of(current);
  if (!is_namespace(served) || (name != "default" && name != "kube-system")) return;
  throw StatusError(
      403, "Forbidden",
      fmt::format("namespaces \"{}\" is forbidden: this namespace may not be deleted", name),
      {"", "namespaces", name});
}

void set_finalizer(Json& object, std::string_view finalizer, bool wanted) {
  if (wanted) {
    kube::add_finalizer(object, finalizer);
  } else {
    kube::remove_finalizer(object, finalizer);
  }
}

// The object as it waits for its end.
void begin_end(const Served& served, Json& object, const RemoveOptions& options,
               base::Timestamp now) {
  if (options.propagation) {
    set_finalizer(object, kForeground, *options.propagation == Propagation::foreground);
    set_finalizer(object, kOrphan, *options.propagation == Propagation::orphan);
  }
  if (kube::is_deleting(object)) return;
  JsonObject& metadata = kube::metadata_of(object);
  metadata["deletionTimestamp"] = kube::time_text(now);
  metadata["deletionGracePeriodSeconds"] = 0;
  if (served.counts_generations()) metadata["generation"] = kube::generation_of(object) + 1;
  if (is_namespace(served)) object.as_object()["status"].as_object()["phase"] = "Terminating";
}

}  // namespace

bool is_emptied(const Json& ns) {
  const Json* finalizers = base::find_path(ns, "spec.finalizers");
  return finalizers == nullptr || !finalizers->is_array() || finalizers->get_array().empty();
}

Removed Objects::remove(const Served& served, const ObjectKey& key, const RemoveOptions& options) {
  for (int race = 0; race < kRaces; ++race) {
    auto current = storage_.find(served, key);
    if (!current) throw kube::not_found(served.group(), served.plural(), key.name);
    check_preconditions(served, current->object, options);
    check_removable(served, current->object);
    admit(served, nullptr, &current->object, "", options.user, nullptr);
    Json next = current->object;
    begin_end(served, next, options, clock_.now());
    const bool held = !kube::finalizers_of(next).empty() || is_namespace(served);
    Removed removed{held ? next : current->object, !held};
    if (options.run == Run::dry || (held && same_object(next, current->object))) return removed;
    if (!commit_change(served, next, *current)) continue;
    if (held) removed.object = std::move(next);
    return removed;
  }
  throw kube::conflict(served.group(), served.plural(), key.name,
                       "the object is being changed by many at once; please try again");
}

void Objects::edit(const Served& served, const ObjectKey& key,
                   const std::function<bool(Json&)>& edit) {
  std::unique_lock<std::mutex> alone;
  if (is_definition(served)) alone = std::unique_lock(definitions_);
  for (int race = 0; race < kRaces; ++race) {
    const auto current = storage_.find(served, key);
    if (!current) return;
    Json next = current->object;
    if (!edit(next) || commit_change(served, next, *current)) return;
  }
  throw base::Error(base::Code::conflict,
                    served.collection + "/" + key.text() + " is being changed by many at once",
                    base::Retry::yes);
}

}  // namespace meridian::kubeserver::objects
