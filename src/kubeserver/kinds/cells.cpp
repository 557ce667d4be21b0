// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/kinds/cells.h"

#include "kube/object.h"
#include "kube/resource.h"

namespace meridian::kubeserver::kinds {

std::string since_cell(std::string_view time, base::Timestamp now) {
  const auto then = kube::parse_time(time);
  return then ? kube::human_duration(now - *then) : "<unknown>";
}

std::string age_cell(const base::Json& object, base::Timestamp now) {
  const base::Json* metadata = base::find(object, "metadata");
  return metadata == nullptr ? "<unknown>"
                             : since_cell(base::string_or(*metadata, "creationTimestamp"), now);
}

std::int64_t member_count(const base::Json& object, std::string_view map) {
  const base::Json* members = base::find(object, map);
  return members != nullptr && members->is_object()
             ? static_cast<std::int64_t>(members->get_object().size())
             : 0;
}

}  // namespace meridian::kubeserver::kinds
