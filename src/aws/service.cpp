// SPDX-License-Identifier: Apache-2.0
#include "aws/service.h"

namespace meridian::aws {
namespace {

using base::Code;

// Total on purpose: a new Code does not compile without an answer here.
std::pair<const char*, int> aws_code_of(Code code) {
  switch (code) {
    case Code::invalid_argument: return {"ValidationException", 400};
    case Code::not_found: return {"ValidationException", 400};
    case Code::already_exists: return {"ResourceInUse", 400};
    case Code::conflict: return {"ConflictException", 409};
    case Code::failed_precondition: return {"ValidationException", 400};
    case Code::unauthenticated: return {"UnrecognizedClientException", 400};
    case Code::permission_denied: return {"AccessDeniedException", 400};
    case Code::resource_exhausted: return {"ResourceLimitExceeded", 400};
    case Code::unavailable: return {"ServiceUnavailable", 503};
    case Code::deadline_exceeded: return {"ServiceUnavailable", 503};
    case Code::cancelled: return {"ServiceUnavailable", 503};
    case Code::data_loss: return {"InternalFailure", 500};
    case Code::unimplemented: return {"UnknownOperationException", 400};
    case Code::internal: return {"InternalFailure", 500};
  }
  return {"InternalFailure", 500};
}

// The nearest of Meridian's own codes, so that callers inside the house can judge an ApiError.
Code code_of(const std::string& aws_code, int status) {
  const auto has = [&](std::string_view piece) {
    return aws_code.find(piece) != std::string::npos;
  };
  if (has("Throttling") || has("TooManyRequests")) return Code::unavailable;
  if (has("NotFound")) return Code::not_found;
  if (has("ResourceInUse") || has("AlreadyExists")) return Code::already_exists;
  if (has("LimitExceeded")) return Code::resource_exhausted;
  if (has("Conflict")) return Code::conflict;
  if (has("AccessDenied")) return Code::permission_denied;
  if (has("UnrecognizedClient") || has("InvalidClientTokenId") || has("Signature") ||
      has("ExpiredToken") || has("MissingAuthenticationToken")) {
    return Code::unauthenticated;
  }
  if (has("UnknownOperation")) return Code::unimplemented;
  if (status == 503) return Code::unavailable;
  return status >= 500 ? Code::internal : Code::invalid_argument;
}

base::Retry retry_of(const std::string& aws_code, int status) {
  const bool again = code_of(aws_code, status) == Code::unavailable || status >= 500;
  return again ? base::Retry::yes : base::Retry::no;
}

}  // namespace

ApiError::ApiError(std::string aws_code, std::string message, int status)
    : Error(code_of(aws_code, status), std::move(message), retry_of(aws_code, status)),
      aws_code_(std::move(aws_code)),
      status_(status) {}

ApiError to_api_error(const base::Error& error) {
  if (const auto* api = dynamic_cast<const ApiError*>(&error)) return *api;
  // Room that is missing here is no limit of the caller's.
  if (error.code() == Code::resource_exhausted && error.retryable()) {
    return ApiError("ServiceUnavailable", error.message(), 503);
  }
  const auto [code, status] = aws_code_of(error.code());
  if (status == 500) {
    return ApiError(code, "An internal error occurred; the daemon's log has the details", status);
  }
  return ApiError(code, error.message(), status);
}

}  // namespace meridian::aws
