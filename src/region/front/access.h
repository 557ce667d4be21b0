// Who calls: from the signature to a principal, or to a refusal. Internal to region/front.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <variant>

#include "aws/sigv4.h"
#include "base/clock.h"
#include "identity/identity.h"
#include "region/front/refusal.h"

namespace meridian::region::front {

struct Access {
  aws::AuthClaim claim;
  aws::Verification verification;
  identity::AccessKey key;
};

// `body_sha256`: hash of the body where the client did not send it (all services but S3).
std::variant<Access, Refusal> authenticate(const identity::Identity& identity,
                                           const aws::AuthClaim& claim, const net::Request& request,
                                           base::Timestamp now, const std::string& body_sha256);

// What a viewer may call: operations that change nothing.
bool only_reads(std::string_view operation);
// Whether temporary keys of a job reach the service of that signing name.
bool open_to_jobs(std::string_view signing_service);

// Whether an unclear request (unsigned, or with a broken signature) is meant for S3.
bool looks_like_s3(const net::Request& request);

}  // namespace meridian::region::front
