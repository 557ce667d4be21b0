// Conditional reads: If-Match and its three relatives, also as x-amz-copy-source-if-….
//
// Precedence: RFC 9110 §13.2.2, which S3 follows: a date condition counts only where its ETag
// relative is absent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "net/http.h"
#include "s3/store/records.h"

namespace meridian::s3 {

struct ReadConditions {
  std::optional<std::string> if_match, if_none_match;
  std::optional<base::Timestamp> if_modified_since, if_unmodified_since;
};
// prefix "" or "x-amz-copy-source-". Dates that cannot be read are ignored, as RFC 9110 says.
ReadConditions read_conditions(const net::Headers& headers, std::string_view prefix);

enum class ReadVerdict { send, not_modified, failed };
ReadVerdict check_read(const ReadConditions& conditions, const ObjectRecord& record);

}  // namespace meridian::s3
