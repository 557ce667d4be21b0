// API patterns as every Kubernetes server can read them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meridian::operators {

// The pattern anchored at both ends, or nothing when RE2 has no such syntax (look-around,
// possessive quantifiers, back references, repeats past 1,000) or when it admits everything. What
// is left out here is still checked by the region.
std::optional<std::string> portable_pattern(std::string_view java_pattern);

}  // namespace meridian::operators
