// The query form of S3's Signature Version 2, with which boto3 and the AWS CLI still presign URLs
// of custom endpoints. Internal to aws; use sigv4.h.
//
// Source: "Signing and authenticating REST requests (Signature Version 2)", S3 user guide.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/sigv4.h"

namespace meridian::aws {

// Sets verdict and string_to_sign. The time has been judged already.
void verify_v2(Verification& out, const AuthClaim& claim, const net::Request& request,
               std::string_view secret);

}  // namespace meridian::aws
