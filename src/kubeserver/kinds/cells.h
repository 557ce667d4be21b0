// What several kinds' rows share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"
#include "base/json.h"

namespace meridian::kubeserver::kinds {

std::string age_cell(const base::Json& object, base::Timestamp now);  // since its creation
std::string since_cell(std::string_view time, base::Timestamp now);   // "<unknown>" without a time
std::int64_t member_count(const base::Json& object, std::string_view map);

}  // namespace meridian::kubeserver::kinds
