// Why the front refuses a request, and how each face of AWS says so. Internal to region/front.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aws/protocol.h"
#include "aws/sigv4.h"
#include "net/http.h"

namespace meridian::region::front {

enum class Reason {
  unsigned_request,
  malformed_signature,
  unknown_key,
  wrong_token,
  expired_token,
  expired_request,
  skewed_time,
  wrong_signature,
  unsigned_header,
  wrong_region,
  no_permission,
  body_too_large,
  internal,
};

struct Refusal {
  Reason reason = Reason::internal;
  std::string message;
  // Elements that S3 adds to its XML: <Region>, <StringToSign>, …
  std::vector<std::pair<std::string, std::string>> details;
};

// S3's XML.
net::Response s3_error(const std::string& code, const std::string& message, int status,
                       const std::vector<std::pair<std::string, std::string>>& details,
                       const std::string& resource, const std::string& request_id);
net::Response s3_refusal(const Refusal& refusal, const std::string& resource,
                         const std::string& request_id);
// The same in the words of the other services, for the protocol of the call.
aws::ApiError api_refusal(const Refusal& refusal, aws::Protocol protocol);

// What a service calls the refusal of invalid input: SageMaker says ValidationException, logs
// InvalidParameterException, STS ValidationError.
std::string validation_code(const aws::CallForm& form);

// A generic Error of a handler, with that service's word for invalid input.
aws::ApiError service_error(const aws::CallForm& form, const base::Error& error);

}  // namespace meridian::region::front
