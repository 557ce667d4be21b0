// JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396), applied to values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::kube {

// The patched value. The message names the operation that failed, counted from 0 ("operation 2:
// test failed at /spec/a"). `test` compares numbers by value. Bounded: 10,000 operations, which
// add, copy and move 16 MiB together; nothing ends deeper than 64.
base::Result<base::Json, std::string> apply_json_patch(const base::Json& target,
                                                       const base::Json& patch);
base::Json apply_merge_patch(base::Json target, const base::Json& patch);
// The smallest merge patch that makes `to` of `from` (nulls delete). A merge patch cannot say that
// a member is null: such members of `to` are left out.
base::Json make_merge_patch(const base::Json& from, const base::Json& to);

}  // namespace meridian::kube
