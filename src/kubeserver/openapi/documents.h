// OpenAPI: what kubectl explains and validates by.
//
// Version 3 has a document for each group and version; version 2 is one document of everything, as
// JSON or in the protobuf form that kubectl insists on (gnostic's).
//
// Documents are made when they are asked for; clients keep them by the hash in their address.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kubeserver/kinds/registry.h"

namespace meridian::kubeserver::openapi {

// The version of Kubernetes whose API this is. What clients compare themselves with.
inline constexpr std::string_view kKubernetesVersion = "v1.32.0";

base::Json v3_index(const kinds::Registry& registry);  // /openapi/v3
// /openapi/v3/apis/GROUP/VERSION, /openapi/v3/api/v1; null when there is none.
base::Json v3_document(const kinds::Registry& registry, std::string_view group,
                       std::string_view version);
// Of what the document shows: it changes when the document does.
std::string v3_hash(const kinds::Registry& registry, std::string_view group,
                    std::string_view version);
base::Json v2_document(const kinds::Registry& registry);  // /openapi/v2

// gnostic's openapi.v2.Document.
std::string to_gnostic(const base::Json& v2_document);

// A schema without what version 2 does not have: nullable, defaults, anyOf …
base::Json v2_schema(const base::Json& v3_schema);

}  // namespace meridian::kubeserver::openapi
