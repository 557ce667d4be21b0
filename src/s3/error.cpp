// SPDX-License-Identifier: Apache-2.0
#include "s3/error.h"

#include "base/xml.h"

namespace meridian::s3 {
namespace {

base::Code code_of_status(int status, std::string_view s3_code) {
  switch (status) {
    case 301: return base::Code::failed_precondition;
    case 403: return base::Code::permission_denied;
    case 404: return base::Code::not_found;
    case 409:
      return s3_code.starts_with("BucketAlready") ? base::Code::already_exists
                                                  : base::Code::conflict;
    case 412: return base::Code::failed_precondition;
    case 501: return base::Code::unimplemented;
    case 503: return base::Code::unavailable;
    case 507: return base::Code::resource_exhausted;
    default: return status < 500 ? base::Code::invalid_argument : base::Code::internal;
  }
}

// aws::PayloadReader puts AWS's code in front: "XAmzContentSHA256Mismatch: …".
S3Error payload_error(const std::string& message) {
  const auto colon = message.find(": ");
  if (colon == std::string::npos || message.find(' ') < colon)
    return {"InternalError", "We encountered an internal error. Please try again.", 500};
  const auto code = message.substr(0, colon);
  return {code, message.substr(colon + 2), code == "SignatureDoesNotMatch" ? 403 : 400};
}

// The cause without the path, which is nobody's business: "No space left on device".
S3Error cannot_store(const std::string& what, const base::Error& error) {
  const auto& message = error.message();
  const auto colon = message.rfind(": ");
  const auto cause = colon == std::string::npos ? message : message.substr(colon + 2);
  return {"ServiceUnavailable", what + " (" + cause + "): nothing was changed. Please try again.",
          503};
}

}  // namespace

S3Error::S3Error(std::string code, std::string message, int status)
    : base::Error(code_of_status(status, code), std::move(message),
                  status == 503 ? base::Retry::yes : base::Retry::no),
      s3_code_(std::move(code)),
      status_(status) {}

S3Error& S3Error::with(std::string element, std::string value) {
  elements_.emplace_back(std::move(element), std::move(value));
  return *this;
}

S3Error& S3Error::with_header(std::string name, std::string value) {
  headers_.emplace_back(std::move(name), std::move(value));
  return *this;
}

S3Error no_such_bucket(const std::string& bucket) {
  return S3Error("NoSuchBucket", "The specified bucket does not exist: '" + bucket + "'", 404)
      .with("BucketName", bucket);
}

S3Error no_such_key(const std::string& key) {
  return S3Error("NoSuchKey", "The specified key does not exist: '" + key + "'", 404)
      .with("Key", key);
}

S3Error no_such_upload(const std::string& upload_id) {
  return S3Error("NoSuchUpload",
                 "The specified upload does not exist. The upload ID may be invalid, or the upload "
                 "may have been aborted or completed.",
                 404)
      .with("UploadId", upload_id);
}

S3Error no_such_version(const std::string& key, const std::string& version_id) {
  return S3Error("NoSuchVersion", "The specified version does not exist.", 404)
      .with("Key", key)
      .with("VersionId", version_id);
}

S3Error access_denied(std::string message) { return {"AccessDenied", std::move(message), 403}; }

S3Error invalid_argument(std::string message, std::string name, std::string value) {
  return S3Error("InvalidArgument", std::move(message), 400)
      .with("ArgumentName", std::move(name))
      .with("ArgumentValue", std::move(value));
}

S3Error precondition_failed(std::string condition) {
  return S3Error("PreconditionFailed",
                 "At least one of the pre-conditions you specified did not hold", 412)
      .with("Condition", std::move(condition));
}

S3Error bad_digest(std::string what) {
  return {"BadDigest", "The " + what + " you specified did not match what we received.", 400};
}

S3Error not_implemented(std::string_view what, std::string_view advice) {
  std::string message =
      "A header or query you provided requested a function that is not implemented: " +
      std::string(what);
  if (!advice.empty()) message += "; " + std::string(advice);
  return {"NotImplemented", message, 501};
}

S3Error malformed_xml(std::string_view why) {
  std::string message =
      "The XML you provided was not well-formed or did not validate against our published schema";
  if (!why.empty()) message += ": " + std::string(why);
  return {"MalformedXML", message, 400};
}

S3Error to_s3_error(const base::Error& error) {
  if (const auto* known = dynamic_cast<const S3Error*>(&error)) return *known;
  switch (error.code()) {
    case base::Code::data_loss: return payload_error(error.message());
    case base::Code::deadline_exceeded:
      return {"RequestTimeout",
              "Your socket connection to the server was not read from or written to within the "
              "timeout period. Idle connections will be closed.",
              400};
    case base::Code::unavailable:
      return {"IncompleteBody",
              "You did not provide the number of bytes specified by the Content-Length HTTP header",
              400};
    // What clients did wrong is S3Error already: these are this machine's own troubles.
    case base::Code::resource_exhausted:
      return cannot_store("The server is out of room or of descriptors", error);
    case base::Code::permission_denied:
      return cannot_store("The server may not write to its data directory", error);
    case base::Code::invalid_argument: return {"InvalidRequest", error.message(), 400};
    default: return {"InternalError", "We encountered an internal error. Please try again.", 500};
  }
}

std::string error_xml(const S3Error& error, std::string_view resource,
                      std::string_view request_id) {
  base::XmlWriter xml;
  xml.open("Error").element("Code", error.s3_code()).element("Message", error.message());
  for (const auto& [name, value] : error.elements()) xml.element(name, value);
  xml.element("Resource", resource).element("RequestId", request_id).element("HostId", request_id);
  return xml.finish();
}

}  // namespace meridian::s3
