// SPDX-License-Identifier: Apache-2.0
#include "operators/resources.h"

#include <charconv>

#include "kube/object.h"
#include "kube/patch.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// Resource versions are opaque to users; every server that exists counts them.
std::uint64_t version_of(const Json& object) {
  const std::string text = kube::resource_version_of(object);
  std::uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

Json finalizers_patch(const Json& object, std::vector<std::string> finalizers) {
  return {{"metadata",
           {{"finalizers", JsonArray(finalizers.begin(), finalizers.end())},
            {"resourceVersion", kube::resource_version_of(object)}}}};
}

}  // namespace

Resources::Resources(kube::ResourceId resource, kube::Api& api, Source cached)
    : resource_(std::move(resource)), api_(api), cached_(std::move(cached)) {}

std::optional<Json> Resources::find(const kube::ObjectKey& key) {
  std::optional<Json> cached = cached_.find(key);
  auto written = written_.lock();
  const auto ours = written->find(key);
  if (ours == written->end()) return cached;
  // Gone from the cache, or a later object of the same name: what we wrote is past.
  const bool same = cached && kube::uid_of(*cached) == kube::uid_of(ours->second);
  if (same && version_of(*cached) < version_of(ours->second)) return ours->second;
  written->erase(ours);
  return cached;
}

std::vector<Json> Resources::list(const std::string& ns) const { return cached_.list(ns); }

Json Resources::keep(Json object) {
  (*written_.lock())[kube::key_of(object)] = object;
  return object;
}

Json Resources::add_finalizer(const Json& object, std::string_view finalizer) {
  std::vector<std::string> finalizers = kube::finalizers_of(object);
  finalizers.emplace_back(finalizer);
  return keep(api_.patch(resource_, kube::key_of(object), kube::PatchType::merge,
                         finalizers_patch(object, std::move(finalizers))));
}

void Resources::remove_finalizer(const Json& object, std::string_view finalizer) {
  std::vector<std::string> finalizers = kube::finalizers_of(object);
  std::erase(finalizers, finalizer);
  api_.patch(resource_, kube::key_of(object), kube::PatchType::merge,
             finalizers_patch(object, std::move(finalizers)));
  written_.lock()->erase(kube::key_of(object));
}

Json Resources::write_status(const Json& object, const JsonObject& status) {
  const Json* before = base::find(object, "status");
  const Json patch =
      kube::make_merge_patch(before != nullptr ? *before : Json(JsonObject{}), status);
  if (patch.is_object() && patch.get_object().empty()) return object;
  return keep(api_.patch(resource_, kube::key_of(object), kube::PatchType::merge,
                         {{"status", patch}}, {}, "status"));
}

Json Resources::create(const Json& object) { return keep(api_.create(resource_, object)); }

void Resources::remove(const Json& object) {
  api_.remove(resource_, kube::key_of(object), kube::Propagation::background, kube::uid_of(object));
}

}  // namespace meridian::operators
