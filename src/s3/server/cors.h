// CORS rules of a bucket.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/http.h"

namespace meridian::s3 {

struct CorsRule {
  std::vector<std::string> origins, methods, headers, exposed;  // origins, headers: one '*' each
  std::string max_age;                                          // seconds, or ""
};

base::Result<std::vector<CorsRule>> parse_cors(std::string_view xml);  // CORSConfiguration
// The first rule that allows origin, method and all of `asked` (comma-separated header names).
const CorsRule* match_cors(const std::vector<CorsRule>& rules, std::string_view origin,
                           std::string_view method, std::string_view asked);
void add_cors(net::Headers& headers, const CorsRule& rule, std::string_view origin);

}  // namespace meridian::s3
