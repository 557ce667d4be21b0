// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/conditions.h"

#include <algorithm>

#include "kube/object.h"

namespace meridian::kubeserver::objects {

using base::Json;
using base::JsonArray;
using base::JsonObject;

bool set_condition(Json& object, const Condition& condition, base::Timestamp now) {
  Json& status = object.as_object()["status"];
  if (!status.is_object()) status.emplace_object();
  Json& list = status.get_object()["conditions"];
  if (!list.is_array()) list.emplace_array();
  JsonArray& conditions = list.get_array();
  JsonObject next{{"lastTransitionTime", kube::time_text(now)},
                  {"message", condition.message},
                  {"reason", condition.reason},
                  {"status", condition.status},
                  {"type", condition.type}};
  const auto old = std::ranges::find_if(
      conditions, [&](const Json& one) { return base::string_or(one, "type") == condition.type; });
  if (old == conditions.end()) {
    conditions.push_back(std::move(next));
    return true;
  }
  if (base::string_or(*old, "status") == condition.status) {
    next["lastTransitionTime"] = base::string_or(*old, "lastTransitionTime");
  }
  if (*old == Json(next)) return false;
  *old = std::move(next);
  return true;
}

}  // namespace meridian::kubeserver::objects
