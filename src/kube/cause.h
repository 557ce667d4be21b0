// Field errors in Kubernetes' words: what admission, schemas and CRD checks put into a 422.
//
//   causes.push_back(not_supported("spec.mode", "Fyle", {"File", "Pipe"}));
//   // Unsupported value: "Fyle": supported values: "File", "Pipe"; did you mean "File"?
//
// Values longer than 256 characters are cut in the message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "kube/status.h"

namespace meridian::kube {

Cause required_value(std::string field, std::string_view why = "");
Cause invalid_value(std::string field, const base::Json& value, std::string_view why);
// The value has another type than the schema's: `type` names the one it has ("string").
Cause wrong_type(std::string field, std::string_view type, std::string_view why);
Cause not_supported(std::string field, const base::Json& value,
                    const std::vector<std::string>& supported);
Cause forbidden(std::string field, std::string_view why);
Cause duplicate_value(std::string field, const base::Json& value);
Cause too_long(std::string field, std::size_t most_bytes);
Cause too_many(std::string field, std::size_t count, std::size_t most);

}  // namespace meridian::kube
