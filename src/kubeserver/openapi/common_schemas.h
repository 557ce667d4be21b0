// Schemas that every object's refer to.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"

namespace meridian::kubeserver::openapi {

inline constexpr std::string_view kObjectMetaName =
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
inline constexpr std::string_view kListMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

// `prefix`: of references, "#/components/schemas/" or "#/definitions/".
void add_common_schemas(base::JsonObject& schemas, std::string_view prefix);

}  // namespace meridian::kubeserver::openapi
