// SPDX-License-Identifier: Apache-2.0
#include "kube/client/fake_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/cause.h"
#include "kube/labels.h"
#include "kube/patch.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr const char* foreground = "foregroundDeletion";
constexpr std::size_t longest_history = 10'000;

std::string random_suffix(base::Random& random) {
  static constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < 5; ++i) out += letters[random.below(letters.size())];
  return out;
}

// The object without what the server keeps the books of.
Json body_of(const Json& object, Resource::StatusSubresource status) {
  Json out = object;
  JsonObject& members = out.get_object();
  members.stable_erase("metadata");
  if (status == Resource::StatusSubresource::yes) members.stable_erase("status");
  return out;
}

void copy_member(const JsonObject& from, JsonObject& to, std::string_view name) {
  if (const Json* value = from.if_contains(name)) {
    to[name] = *value;
  } else {
    to.stable_erase(name);
  }
}

void check_precondition(const Resource& resource, const Json& live, const Json& next) {
  const ResourceId& id = resource.id;
  const std::string revision = resource_version_of(next);
  if (!revision.empty() && revision != resource_version_of(live)) {
    throw conflict(id.group, id.plural, name_of(live),
                   "the object has been modified; please apply your changes to the latest version "
                   "and try again");
  }
  const std::string uid = uid_of(next);
  if (!uid.empty() && uid != uid_of(live)) {
    throw conflict(
        id.group, id.plural, name_of(live),
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    uid_of(live)));
  }
}

}  // namespace

void FakeStore::serve(Resource resource) {
  const ResourceId id = resource.id;
  resources_.insert_or_assign(id, std::move(resource));
}

// Unknown resources are served without a schema.
const Resource& FakeStore::resource_of(const ResourceId& id) {
  const auto found = resources_.find(id);
  if (found != resources_.end()) return found->second;
  Resource unknown{
      .id = id, .kind = id.plural, .status_subresource = Resource::StatusSubresource::yes};
  return resources_.emplace(id, std::move(unknown)).first->second;
}

void FakeStore::forget_history() {
  history_.clear();
  oldest_ = revision_;
}

const Json& FakeStore::get(const ResourceId& resource, const ObjectKey& key) {
  const Objects& objects = objects_[resource];
  const auto found = objects.find(key);
  if (found == objects.end()) throw not_found(resource.group, resource.plural, key.name);
  return found->second;
}

void FakeStore::check(const Resource& resource, Json& object) const {
  if (resource.schema == nullptr) return;
  apply_defaults(*resource.schema, object);
  prune(*resource.schema, object);
  auto causes = validate(*resource.schema, object);
  if (!causes.empty()) {
    throw invalid(resource.id.group, resource.kind, name_of(object), std::move(causes));
  }
}

void FakeStore::put(const Resource& resource, const ObjectKey& key, Json after) {
  Objects& objects = objects_[resource.id];
  const auto found = objects.find(key);
  const Json before = found == objects.end() ? Json() : found->second;
  metadata_of(after)["resourceVersion"] = std::to_string(++revision_);
  history_.push_back({revision_, resource.id, before, after});
  if (history_.size() > longest_history) {
    oldest_ = history_.front().revision;
    history_.pop_front();
  }
  objects[key] = std::move(after);
}

void FakeStore::drop(const ResourceId& resource, const ObjectKey& key) {
  Objects& objects = objects_[resource];
  Json before = std::move(objects.at(key));
  objects.erase(key);
  Json last = before;
  metadata_of(last)["resourceVersion"] = std::to_string(++revision_);
  history_.push_back({revision_, resource, std::move(last), Json()});
  collect_children(uid_of(before), Propagation::background);
}

Json FakeStore::create(const ResourceId& id, Json object, const Manager& manager) {
  const Resource& resource = resource_of(id);
  if (!object.is_object()) throw bad_request("an object is expected");
  if (!resource_version_of(object).empty()) {
    throw bad_request("resourceVersion should not be set on objects to be created");
  }
  metadata_of(object).stable_erase("managedFields");
  if (name_of(object).empty()) {
    const std::string prefix = base::string_or(object.at("metadata"), "generateName");
    if (!prefix.empty()) metadata_of(object)["name"] = prefix + random_suffix(random_);
  }
  if (resource.status_subresource == Resource::StatusSubresource::yes) {
    object.get_object().stable_erase("status");
  }
  track_update(nullptr, object, manager, resource.schema.get(), clock_.now());
  return insert(resource, std::move(object));
}

Json FakeStore::insert(const Resource& resource, Json object) {
  const ResourceId& id = resource.id;
  const ObjectKey key = key_of(object);
  if (key.name.empty()) {
    throw invalid(id.group, resource.kind, "",
                  {required_value("metadata.name", "name or generateName is required")});
  }
  if (const auto why = why_not_subdomain(key.name)) {
    throw invalid(id.group, resource.kind, key.name,
                  {invalid_value("metadata.name", Json(key.name), *why)});
  }
  if (objects_[id].contains(key)) throw already_exists(id.group, id.plural, key.name);
  check(resource, object);
  JsonObject& metadata = metadata_of(object);
  metadata["uid"] = random_.uuid();
  metadata["creationTimestamp"] = time_text(clock_.now());
  metadata["generation"] = 1;
  put(resource, key, std::move(object));
  return get(id, key);
}

// What `next` may change of `live`, with the server's own members restored.
Json FakeStore::replace(const Resource& resource, const Json& live, Json next, Part part) {
  if (part == Part::status) {
    Json out = live;
    copy_member(next.get_object(), out.get_object(), "status");
    const Json* metadata = base::find(next, "metadata");
    if (metadata != nullptr) copy_member(metadata->as_object(), metadata_of(out), "managedFields");
    return out;
  }
  if (resource.status_subresource == Resource::StatusSubresource::yes) {
    copy_member(live.get_object(), next.get_object(), "status");
  }
  JsonObject& metadata = metadata_of(next);
  for (const char* name : {"uid", "creationTimestamp", "generation", "deletionTimestamp",
                           "deletionGracePeriodSeconds", "resourceVersion"}) {
    copy_member(live.at("metadata").get_object(), metadata, name);
  }
  check(resource, next);
  const bool changed = !same_value(body_of(live, resource.status_subresource),
                                   body_of(next, resource.status_subresource));
  if (changed) metadata_of(next)["generation"] = generation_of(live) + 1;
  return next;
}

Json FakeStore::update(const ResourceId& id, Json object, Part part, const Manager& manager) {
  const Resource& resource = resource_of(id);
  if (!object.is_object()) throw bad_request("an object is expected");
  const ObjectKey key = key_of(object);
  const Json live = get(id, key);
  if (resource_version_of(object).empty()) {
    throw invalid(
        id.group, resource.kind, key.name,
        {invalid_value("metadata.resourceVersion", Json(0), "must be specified for an update")});
  }
  check_precondition(resource, live, object);
  Json next = replace(resource, live, std::move(object), part);
  track_update(&live, next, manager, resource.schema.get(), clock_.now());
  return commit(resource, live, std::move(next));
}

// The last write of an object whose finalizers are gone is its end.
Json FakeStore::commit(const Resource& resource, const Json& live, Json next) {
  if (same_value(live, next)) return live;
  const ObjectKey key = key_of(live);
  if (is_deleting(next) && finalizers_of(next).empty()) {
    drop(resource.id, key);
    return next;
  }
  put(resource, key, std::move(next));
  return get(resource.id, key);
}

Json FakeStore::apply(const Resource& resource, const Json& live, const Json& patch,
                      const Manager& manager, Force force) const {
  Json applied = patch;
  if (!applied.is_object()) throw bad_request("an object is expected");
  check_precondition(resource, live, applied);
  for (const char* name : {"resourceVersion", "uid"}) metadata_of(applied).stable_erase(name);
  return apply_server_side(&live, applied, manager, force, resource.schema.get(), clock_.now());
}

Json FakeStore::patch(const ResourceId& id, const ObjectKey& key, PatchType type, const Json& patch,
                      Part part, const Manager& manager, Force force) {
  const Resource& resource = resource_of(id);
  if (type == PatchType::apply && part == Part::all && !objects_[id].contains(key)) {
    Json made = patch;
    if (key_of(made) != key) throw bad_request("the name of the object does not match the URL");
    if (!resource_version_of(made).empty()) throw not_found(id.group, id.plural, key.name);
    made = apply_server_side(nullptr, made, manager, force, resource.schema.get(), clock_.now());
    return insert(resource, std::move(made));
  }
  const Json live = get(id, key);
  Json next;
  if (type == PatchType::apply) {
    next = apply(resource, live, patch, manager, force);
  } else if (type == PatchType::merge) {
    next = apply_merge_patch(live, patch);
  } else {
    auto patched = apply_json_patch(live, patch);
    if (!patched) throw StatusError(422, "Invalid", patched.error());
    next = std::move(*patched);
  }
  if (key_of(next) != key) throw bad_request("the name of an object may not be changed");
  check_precondition(resource, live, next);
  metadata_of(next)["resourceVersion"] = resource_version_of(live);
  if (type != PatchType::apply) return update(id, std::move(next), part, manager);
  return commit(resource, live, replace(resource, live, std::move(next), part));
}

void FakeStore::remove(const ResourceId& id, const ObjectKey& key, Propagation propagation,
                       const std::string& uid) {
  const Resource& resource = resource_of(id);
  Json object = get(id, key);
  if (!uid.empty() && uid != uid_of(object)) {
    throw conflict(
        id.group, id.plural, key.name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    uid_of(object)));
  }
  if (propagation == Propagation::orphan) collect_children(uid_of(object), propagation);
  if (propagation == Propagation::foreground) add_finalizer(object, foreground);
  if (finalizers_of(object).empty()) return drop(id, key);
  if (!is_deleting(object)) {
    metadata_of(object)["deletionTimestamp"] = time_text(clock_.now());
    metadata_of(object)["deletionGracePeriodSeconds"] = 0;
    metadata_of(object)["generation"] = generation_of(object) + 1;
    put(resource, key, object);
  }
  if (propagation != Propagation::foreground) return;
  collect_children(uid_of(object), propagation);
  Json last = get(id, key);
  remove_finalizer(last, foreground);
  if (finalizers_of(last).empty()) {
    drop(id, key);
  } else {
    put(resource, key, std::move(last));
  }
}

// Deletes the objects that this one owned, or makes them nobody's.
void FakeStore::collect_children(const std::string& uid, Propagation propagation) {
  std::vector<std::pair<ResourceId, ObjectKey>> children;
  for (const auto& [resource, objects] : objects_) {
    for (const auto& [key, object] : objects) {
      const auto owners = owners_of(object);
      const bool is_child =
          std::any_of(owners.begin(), owners.end(),
                      [&](const OwnerReference& owner) { return owner.uid == uid; });
      if (is_child) children.emplace_back(resource, key);
    }
  }
  for (const auto& [resource, key] : children) {
    if (!objects_[resource].contains(key)) continue;
    Json child = get(resource, key);
    JsonArray& references = metadata_of(child)["ownerReferences"].get_array();
    const auto mine = [&](const Json& reference) {
      return base::string_or(reference, "uid") == uid;
    };
    references.erase(std::remove_if(references.begin(), references.end(), mine), references.end());
    const bool others = !references.empty();
    if (propagation != Propagation::orphan && !others) {
      remove(resource, key, propagation, "");
      continue;
    }
    if (!others) metadata_of(child).stable_erase("ownerReferences");
    put(resource_of(resource), key, std::move(child));
  }
}

}  // namespace meridian::kube
