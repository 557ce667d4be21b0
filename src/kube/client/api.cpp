// SPDX-License-Identifier: Apache-2.0
#include "kube/client/api.h"

namespace meridian::kube {

std::optional<base::Json> Api::find(const ResourceId& resource, const ObjectKey& key) {
  try {
    return get(resource, key);
  } catch (const StatusError& error) {
    if (error.status() == 404) return std::nullopt;
    throw;
  }
}

}  // namespace meridian::kube
