// Request bodies in Kubernetes' protobuf form, as JSON: kubectl sends the built-in kinds so.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace meridian::kubeserver::openapi {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// An object with its apiVersion and kind. Fields that we do not know are left out. The message says
// what is wrong: no such body, a kind that is not among the built-in ones, broken bytes.
base::Result<base::Json, std::string> parse_protobuf_body(std::string_view bytes);

}  // namespace meridian::kubeserver::openapi
