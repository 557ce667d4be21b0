// What the API model cannot say of Batch requests. All throw ClientException.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

namespace meridian::region::batch {

void check_definition(const base::JsonObject& input);
void check_retry(const base::JsonObject& input);
void check_timeout(const base::JsonObject& input);
void check_submission(const base::JsonObject& input);
// As one SubmitJob or RegisterJobDefinition would carry it: at most `most` bytes.
void check_size(const base::JsonObject& input, std::size_t most, std::string_view what);

}  // namespace meridian::region::batch
