// SPDX-License-Identifier: Apache-2.0
#include "kube/managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "kube/object.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t most_updaters = 10;
constexpr const char* ancient = "ancient-changes";

using Entry = std::pair<ManagerKey, Ownership>;

Json entry_json(const ManagerKey& key, const Ownership& ownership) {
  JsonObject out{{"manager", key.name},
                 {"operation", key.operation == Operation::apply ? "Apply" : "Update"},
                 {"apiVersion", ownership.api_version}};
  if (!ownership.time.empty()) out["time"] = ownership.time;
  out["fieldsType"] = "FieldsV1";
  out["fieldsV1"] = to_fields_v1(ownership.fields);
  if (!key.subresource.empty()) out["subresource"] = key.subresource;
  return out;
}

// The oldest updaters become one, of which nobody asks any more who they were.
void join_ancient(std::vector<Entry>& updaters) {
  if (updaters.size() <= most_updaters) return;
  const std::size_t surplus = updaters.size() - most_updaters + 1;
  Entry joined = updaters[surplus - 1];
  joined.first.name = ancient;
  joined.first.subresource.clear();
  for (std::size_t i = 0; i + 1 < surplus; ++i) joined.second.fields.add(updaters[i].second.fields);
  updaters.erase(updaters.begin(), updaters.begin() + static_cast<std::ptrdiff_t>(surplus));
  updaters.insert(updaters.begin(), std::move(joined));
}

}  // namespace

Managers read_managers(const Json& object) {
  Managers out;
  const Json* metadata = base::find(object, "metadata");
  const Json* entries = metadata == nullptr ? nullptr : base::find(*metadata, "managedFields");
  if (entries == nullptr || !entries->is_array()) return out;
  for (const Json& entry : entries->get_array()) {
    const Json* fields = base::find(entry, "fieldsV1");
    auto set = fields == nullptr ? base::Result<FieldSet, std::string>(std::string("none"))
                                 : parse_fields_v1(*fields);
    if (!set) continue;
    const bool applied = base::string_or(entry, "operation") == "Apply";
    const std::string api_version = base::string_or(entry, "apiVersion");
    Ownership& slot =
        out[{applied ? Operation::apply : Operation::update, base::string_or(entry, "manager"),
             base::string_or(entry, "subresource"), applied ? "" : api_version}];
    slot.fields.add(*set);
    slot.api_version = api_version;
    slot.time = base::string_or(entry, "time");
  }
  return out;
}

void write_managers(const Managers& managers, Json& object) {
  std::vector<Entry> appliers, updaters;
  for (const auto& [key, ownership] : managers) {
    if (ownership.fields.empty()) continue;
    (key.operation == Operation::apply ? appliers : updaters).emplace_back(key, ownership);
  }
  const auto older = [](const Entry& a, const Entry& b) {
    return std::tie(a.second.time, a.first) < std::tie(b.second.time, b.first);
  };
  std::sort(appliers.begin(), appliers.end(), older);
  std::sort(updaters.begin(), updaters.end(), older);
  join_ancient(updaters);
  JsonArray entries;
  for (const auto& [key, ownership] : appliers) entries.push_back(entry_json(key, ownership));
  for (const auto& [key, ownership] : updaters) entries.push_back(entry_json(key, ownership));
  JsonObject& metadata = metadata_of(object);
  if (entries.empty()) {
    metadata.stable_erase("managedFields");
  } else {
    metadata["managedFields"] = std::move(entries);
  }
}

std::string shown(const ManagerKey& key, const Ownership& ownership) {
  std::string out = base::to_text(Json(key.name));
  if (!key.subresource.empty()) {
    out += " with subresource " + base::to_text(Json(key.subresource));
  }
  if (key.operation == Operation::update) out += " using " + ownership.api_version;
  return out;
}

}  // namespace meridian::kube
