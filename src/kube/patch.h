// JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396), applied to values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::kube {

// The patched value. The message names the operation that failed ("operation 2: test failed at
// /spec/a"). Bounded: 10,000 operations; the result at most 16 MiB.
base::Result<base::Json, std::string> apply_json_patch(const base::Json& target,
                                                       const base::Json& patch);
base::Json apply_merge_patch(base::Json target, const base::Json& patch);
// The smallest merge patch that makes `to` of `from` (nulls delete).
base::Json make_merge_patch(const base::Json& from, const base::Json& to);

}  // namespace meridian::kube
