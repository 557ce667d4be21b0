// Configurations of a bucket that are kept as the client sent them: what they must look like, and
// what is done about them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/xml.h"
#include "s3/error.h"

namespace meridian::s3 {

struct BucketDocument {
  std::string_view sub_resource;  // also its name in BucketRecord::documents
  std::string_view content_type;
  int put_status;
  // What a GET answers when there is none.
  std::string_view absent_code, absent_message;
  // What the client is told of each time it sets one; "" = the document is obeyed.
  std::string_view not_enforced;
  // Why the document cannot be accepted.
  std::optional<S3Error> (*check)(std::string_view text);
};

// policy, encryption, lifecycle, publicAccessBlock
std::span<const BucketDocument> bucket_documents();

// A setting that has one value here: a document that says so is accepted.
struct FixedSetting {
  std::string_view sub_resource, root;
  bool (*is_ours)(const base::XmlElement&);
  std::string_view advice;  // what to do instead of another value
};
std::span<const FixedSetting> fixed_bucket_settings();
std::optional<S3Error> check_fixed_setting(const FixedSetting& setting, std::string_view text);

// Whether a policy that was accepted lets anybody in.
bool is_public_policy(std::string_view policy);
// Whether the bucket's PublicAccessBlockConfiguration ("" = the default) refuses such policies.
bool blocks_public_policy(std::string_view configuration);

}  // namespace meridian::s3
