// Amazon resource names: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace meridian::aws {

struct Arn {
  std::string partition = "aws";
  std::string service, region, account;  // region and account may be empty (S3, IAM)
  std::string resource;                  // "training-job/digits-1", "role/path/name"

  std::string text() const;
  // "training-job/digits-1" → "training-job" and "digits-1" (at the first slash or colon).
  std::string resource_type() const;
  std::string resource_name() const;  // the whole resource when it has no type
};

// Nothing for what is not an ARN: wrong number of parts, a partition that is not aws…, an account
// that is not 12 digits, an empty service or resource.
std::optional<Arn> parse_arn(std::string_view text);

}  // namespace meridian::aws
