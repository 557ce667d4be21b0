// Discovery: which groups, versions and resources there are. The plain documents and the aggregated
// ones that newer clients ask for.
//
// Source: Kubernetes "The Kubernetes API", discovery; apidiscovery.k8s.io/v2.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kubeserver/kinds/registry.h"

namespace meridian::kubeserver::openapi {

base::Json api_versions(const std::string& server_address);  // /api
base::Json api_group_list(const kinds::Registry& registry);  // /apis
// /apis/GROUP; null when there is none.
base::Json api_group(const kinds::Registry& registry, std::string_view group);
// /api/v1, /apis/GROUP/VERSION; null when there is none.
base::Json api_resource_list(const kinds::Registry& registry, std::string_view group,
                             std::string_view version);
// /api (core = yes) and /apis. `version`: "v2" or "v2beta1".
enum class Core { no, yes };
base::Json aggregated_discovery(const kinds::Registry& registry, Core core,
                                std::string_view version);

}  // namespace meridian::kubeserver::openapi
