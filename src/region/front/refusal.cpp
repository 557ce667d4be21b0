// SPDX-License-Identifier: Apache-2.0
#include "region/front/refusal.h"

#include <algorithm>

#include "base/strings.h"
#include "base/xml.h"

namespace meridian::region::front {
namespace {

struct Words {
  const char* s3_code;
  int s3_status;
  const char* json_code;
  const char* query_code;
  int json_status, query_status;
};

// From the "common errors" pages of the services and recorded answers.
Words words_of(Reason reason) {
  switch (reason) {
    case Reason::unsigned_request:
      return {"AccessDenied",
              403,
              "MissingAuthenticationTokenException",
              "MissingAuthenticationToken",
              400,
              403};
    case Reason::malformed_signature:
      return {"AuthorizationHeaderMalformed", 400, "IncompleteSignatureException",
              "IncompleteSignature",          400, 400};
    case Reason::unknown_key:
      return {"InvalidAccessKeyId",   403, "UnrecognizedClientException",
              "InvalidClientTokenId", 400, 403};
    case Reason::wrong_token:
      return {"InvalidToken", 400, "UnrecognizedClientException", "InvalidClientTokenId", 400, 403};
    case Reason::expired_token:
      return {"ExpiredToken", 400, "ExpiredTokenException", "ExpiredToken", 400, 403};
    case Reason::expired_request:
      return {"AccessDenied", 403, "InvalidSignatureException", "SignatureDoesNotMatch", 400, 403};
    case Reason::skewed_time:
      return {"RequestTimeTooSkewed",  403, "InvalidSignatureException",
              "SignatureDoesNotMatch", 400, 403};
    case Reason::wrong_signature:
      return {"SignatureDoesNotMatch", 403, "InvalidSignatureException",
              "SignatureDoesNotMatch", 400, 403};
    case Reason::unsigned_header:
      return {"AccessDenied", 403, "InvalidSignatureException", "SignatureDoesNotMatch", 400, 403};
    case Reason::wrong_region:
      return {"AuthorizationHeaderMalformed", 400, "InvalidSignatureException",
              "SignatureDoesNotMatch",        400, 403};
    case Reason::no_permission:
      return {"AccessDenied", 403, "AccessDeniedException", "AccessDenied", 400, 403};
    case Reason::body_too_large:
      return {"EntityTooLarge",        400, "RequestEntityTooLargeException",
              "RequestEntityTooLarge", 413, 413};
    case Reason::internal: break;
  }
  return {"InternalError", 500, "InternalFailure", "InternalFailure", 500, 500};
}

}  // namespace

net::Response s3_error(const std::string& code, const std::string& message, int status,
                       const std::vector<std::pair<std::string, std::string>>& details,
                       const std::string& resource, const std::string& request_id) {
  base::XmlWriter xml;
  xml.open("Error");
  xml.element("Code", code);
  xml.element("Message", message);
  for (const auto& [name, value] : details) xml.element(name, base::to_valid_utf8(value));
  xml.element("Resource", base::to_valid_utf8(resource));
  xml.element("RequestId", request_id);
  net::Response response{.status = status};
  response.headers.set("content-type", "application/xml");
  response.headers.set("x-amz-request-id", request_id);
  response.body = xml.finish();
  return response;
}

net::Response s3_refusal(const Refusal& refusal, const std::string& resource,
                         const std::string& request_id) {
  const Words words = words_of(refusal.reason);
  // S3 has its own sentences for these two, which scripts look for.
  std::string message = refusal.message;
  if (refusal.reason == Reason::unknown_key) {
    message = "The AWS Access Key Id you provided does not exist in our records" +
              message.substr(std::min(message.find(": "), message.size()));
  } else if (refusal.reason == Reason::expired_token) {
    message = "The provided token has expired.";
  }
  return s3_error(words.s3_code, message, words.s3_status, refusal.details, resource, request_id);
}

aws::ApiError api_refusal(const Refusal& refusal, aws::Protocol protocol) {
  const Words words = words_of(refusal.reason);
  if (protocol == aws::Protocol::query) {
    return aws::ApiError(words.query_code, refusal.message, words.query_status);
  }
  // REST services answer 403 where the JSON ones answer 400.
  const bool rest = protocol == aws::Protocol::rest_json && words.query_status == 403;
  return aws::ApiError(words.json_code, refusal.message, rest ? 403 : words.json_status);
}

std::string validation_code(const aws::CallForm& form) {
  const std::string service = form.model ? form.model->name() : "";
  if (service == "logs") return "InvalidParameterException";
  if (service == "batch") return "ClientException";
  if (service == "monitoring") return "InvalidParameterValue";
  if (service == "sagemaker-runtime" || form.protocol == aws::Protocol::query) {
    return "ValidationError";
  }
  return "ValidationException";
}

aws::ApiError service_error(const aws::CallForm& form, const base::Error& error) {
  const aws::ApiError api = aws::to_api_error(error);
  if (dynamic_cast<const aws::ApiError*>(&error)) return api;
  if (api.aws_code() != "ValidationException") return api;
  return aws::ApiError(validation_code(form), api.message(), api.status());
}

}  // namespace meridian::region::front
