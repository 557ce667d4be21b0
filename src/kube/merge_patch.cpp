// JSON Merge Patch, both ways.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "kube/patch.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonObject;

Json difference(const JsonObject& from, const JsonObject& to) {
  JsonObject out;
  for (const auto& member : from) {
    if (!to.contains(member.key())) out[member.key()] = nullptr;
  }
  for (const auto& member : to) {
    const Json* before = from.if_contains(member.key());
    if (before == nullptr) {
      out[member.key()] = member.value();
    } else if (!same_value(*before, member.value())) {
      out[member.key()] = make_merge_patch(*before, member.value());
    }
  }
  return out;
}

}  // namespace

Json apply_merge_patch(Json target, const Json& patch) {
  if (!patch.is_object()) return patch;
  JsonObject& object = target.is_object() ? target.get_object() : target.emplace_object();
  for (const auto& member : patch.get_object()) {
    if (member.value().is_null()) {
      object.stable_erase(member.key());
    } else {
      Json& slot = object[member.key()];
      slot = apply_merge_patch(std::move(slot), member.value());
    }
  }
  return target;
}

Json make_merge_patch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  return difference(from.get_object(), to.get_object());
}

}  // namespace meridian::kube
