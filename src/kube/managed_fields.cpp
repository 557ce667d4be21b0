// SPDX-License-Identifier: Apache-2.0
#include "kube/managed_fields.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "kube/field_walk.h"
#include "kube/managers.h"
#include "kube/object.h"
#include "kube/status.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// What nobody owns, because the server alone writes it or it names the object.
const FieldSet& untracked() {
  static const FieldSet set = [] {
    FieldSet out;
    out.below["f:apiVersion"].owned = true;
    out.below["f:kind"].owned = true;
    FieldSet& metadata = out.below["f:metadata"];
    metadata.owned = true;
    for (const char* name : {"f:name", "f:namespace", "f:uid", "f:resourceVersion", "f:generation",
                             "f:creationTimestamp", "f:deletionTimestamp",
                             "f:deletionGracePeriodSeconds", "f:selfLink", "f:generateName"}) {
      metadata.below[name].owned = true;
    }
    return out;
  }();
  return set;
}

FieldSet tracked(FieldSet set) {
  set.subtract(untracked());
  return set;
}

Json without_managed_fields(const Json& object) {
  Json out = object;
  if (base::find(out, "metadata") != nullptr) metadata_of(out).stable_erase("managedFields");
  return out;
}

Changes tracked_changes(const Schema* schema, const Json& before, const Json& after) {
  Changes out = compare_fields(schema, before, after);
  return {tracked(std::move(out.added)), tracked(std::move(out.modified)),
          tracked(std::move(out.removed))};
}

struct Conflict {
  std::string manager;
  std::vector<std::string> paths;
};

StatusError conflict_error(const std::vector<Conflict>& conflicts) {
  std::vector<Cause> causes;
  std::vector<std::string> lines;
  for (const Conflict& conflict : conflicts) {
    lines.push_back(fmt::format("conflicts with {}:", conflict.manager));
    for (const auto& path : conflict.paths) {
      lines.push_back("- " + path);
      causes.push_back({path, "FieldManagerConflict", "conflict with " + conflict.manager});
    }
  }
  std::string message = causes.size() == 1 ? fmt::format("Apply failed with 1 conflict: {}: {}",
                                                         causes[0].message, causes[0].field)
                                           : fmt::format("Apply failed with {} conflicts: {}",
                                                         causes.size(), base::join(lines, "\n"));
  return {409, "Conflict", std::move(message), {.causes = std::move(causes)}};
}

void refuse_conflicts(const Managers& managers, const ManagerKey& self, const FieldSet& changed) {
  std::vector<Conflict> conflicts;
  for (const auto& [key, ownership] : managers) {
    if (key == self) continue;
    const FieldSet both = ownership.fields.common(changed);
    if (!both.empty()) conflicts.push_back({shown(key, ownership), both.paths()});
  }
  if (!conflicts.empty()) throw conflict_error(conflicts);
}

void take_from_others(Managers& managers, const ManagerKey& self, const FieldSet& changed,
                      const FieldSet& removed) {
  for (auto& [key, ownership] : managers) {
    if (key != self) ownership.fields.subtract(changed);
    ownership.fields.subtract(removed);
  }
}

bool same_fields(const Managers& a, const Managers& b) {
  // Whoever owns nothing is not written.
  const auto owners = [](const Managers& managers) {
    std::map<ManagerKey, std::pair<std::string, FieldSet>> out;
    for (const auto& [key, ownership] : managers) {
      if (!ownership.fields.empty())
        out.emplace(key, std::pair(ownership.api_version, ownership.fields));
    }
    return out;
  };
  return owners(a) == owners(b);
}

FieldSet owned_by_all(const Managers& managers) {
  FieldSet out;
  for (const auto& [key, ownership] : managers) out.add(ownership.fields);
  return out;
}

void refuse_managed_fields(const Json& applied) {
  const Json* metadata = base::find(applied, "metadata");
  if (metadata != nullptr && base::find(*metadata, "managedFields") != nullptr) {
    throw bad_request("metadata.managedFields must be nil");
  }
}

Managers managers_before(const Json* before, const Json& after) {
  const Json* metadata = base::find(after, "metadata");
  const Json* given = metadata == nullptr ? nullptr : base::find(*metadata, "managedFields");
  if (given != nullptr && given->is_array()) {
    const JsonArray& entries = given->get_array();
    const bool reset =
        entries.size() == 1 && entries[0].is_object() && entries[0].get_object().empty();
    if (reset) return {};
    if (Managers managers = read_managers(after); !managers.empty()) return managers;
  }
  return before == nullptr ? Managers() : read_managers(*before);
}

}  // namespace

Json apply_server_side(const Json* live, const Json& applied, const Manager& manager, Force force,
                       const Schema* schema, base::Timestamp now) {
  refuse_managed_fields(applied);
  const Json before = live == nullptr ? Json(JsonObject()) : without_managed_fields(*live);
  const Managers managers_then = live == nullptr ? Managers() : read_managers(*live);
  const ManagerKey self{Operation::apply, manager.name, manager.subresource, ""};

  Managers managers = managers_then;
  Ownership& own = managers[self];
  const FieldSet lost = own.fields;
  own.fields = tracked(fields_of(schema, applied));
  own.api_version = manager.api_version;

  Json after = merge_fields(schema, before, applied);
  remove_fields(schema, after, lost, owned_by_all(managers));

  const Changes changes = tracked_changes(schema, before, after);
  FieldSet changed = changes.added;
  changed.add(changes.modified);
  if (force == Force::no) refuse_conflicts(managers, self, changed);
  take_from_others(managers, self, changed, changes.removed);

  if (live != nullptr && same_fields(managers, managers_then) && same_value(before, after)) {
    return *live;
  }
  managers[self].time = time_text(now);
  write_managers(managers, after);
  return after;
}

void track_update(const Json* before, Json& after, const Manager& manager, const Schema* schema,
                  base::Timestamp now) {
  Managers managers = managers_before(before, after);
  const Json then = before == nullptr ? Json(JsonObject()) : without_managed_fields(*before);
  const Changes changes = tracked_changes(schema, then, without_managed_fields(after));
  const ManagerKey self{Operation::update, manager.name, manager.subresource, manager.api_version};
  FieldSet changed = changes.added;
  changed.add(changes.modified);
  take_from_others(managers, self, changed, changes.removed);
  if (!changed.empty()) {
    Ownership& own = managers[self];
    own.fields.add(changed);
    own.api_version = manager.api_version;
    own.time = time_text(now);
  }
  write_managers(managers, after);
}

}  // namespace meridian::kube
