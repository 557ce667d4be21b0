// SPDX-License-Identifier: Apache-2.0
#include "operators/conditions.h"

#include "kube/object.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

std::string_view word(Condition::Status status) {
  switch (status) {
    case Condition::Status::yes: return "True";
    case Condition::Status::no: return "False";
    case Condition::Status::unknown: return "Unknown";
  }
  return "Unknown";
}

JsonArray& conditions_of(JsonObject& status) {
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = JsonArray{};
  return conditions.get_array();
}

}  // namespace

void set_condition(JsonObject& status, const Condition& condition, std::int64_t generation,
                   base::Timestamp now) {
  JsonObject next{{"type", condition.type},           {"status", word(condition.status)},
                  {"observedGeneration", generation}, {"lastTransitionTime", kube::time_text(now)},
                  {"reason", condition.reason},       {"message", condition.message}};
  for (Json& present : conditions_of(status)) {
    if (base::string_or(present, "type") != condition.type) continue;
    if (base::string_or(present, "status") == word(condition.status)) {
      next["lastTransitionTime"] =
          base::string_or(present, "lastTransitionTime", kube::time_text(now));
    }
    present = std::move(next);
    return;
  }
  conditions_of(status).push_back(std::move(next));
}

void clear_condition(JsonObject& status, std::string_view type) {
  JsonArray kept;
  for (Json& present : conditions_of(status)) {
    if (base::string_or(present, "type") != type) kept.push_back(std::move(present));
  }
  status["conditions"] = std::move(kept);
}

std::string condition_status(const Json& object, std::string_view type) {
  const Json* conditions = base::find_path(object, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return "";
  for (const Json& present : conditions->get_array()) {
    if (base::string_or(present, "type") == type) return base::string_or(present, "status");
  }
  return "";
}

}  // namespace meridian::operators
