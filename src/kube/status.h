// The error that a Kubernetes client reads: a Status object with code, reason and causes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::kube {

// metav1.StatusCause: which field, why ("FieldValueInvalid", "FieldValueRequired",
// "FieldValueNotSupported", "FieldValueForbidden", "FieldManagerConflict", …).
struct Cause {
  std::string field;  // "spec.inputDataConfig[0].channelName"
  std::string reason;
  std::string message;
};

struct StatusDetails {
  std::string group, kind, name, uid;  // kind: the plural where Kubernetes puts it so
  std::vector<Cause> causes;
  int retry_after_seconds = 0;
};

// Thrown by the server's parts and by the client when a server answers so. `reason` is
// Kubernetes' word: NotFound 404, AlreadyExists 409, Conflict 409, Invalid 422, BadRequest 400,
// Forbidden 403, Unauthorized 401, MethodNotAllowed 405, NotAcceptable 406, Expired 410,
// RequestEntityTooLarge 413, UnsupportedMediaType 415, TooManyRequests 429, InternalError 500,
// ServiceUnavailable 503, Timeout 504.
class StatusError : public base::Error {
 public:
  StatusError(int code, std::string reason, std::string message, StatusDetails details = {});
  int status() const { return status_; }
  const std::string& reason() const { return reason_; }
  const StatusDetails& details() const { return details_; }
  base::Json to_json() const;  // kind Status, apiVersion v1, status Failure

 private:
  int status_;
  std::string reason_;
  StatusDetails details_;
};

// The usual ones, with Kubernetes' wording: `trainingjobs.sagemaker.aws.amazon.com "a" not found`.
StatusError not_found(std::string_view group, std::string_view plural, std::string_view name);
StatusError already_exists(std::string_view group, std::string_view plural, std::string_view name);
StatusError conflict(std::string_view group, std::string_view plural, std::string_view name,
                     std::string_view why);
// `TrainingJob.sagemaker.aws.amazon.com "a" is invalid: CAUSE` (several in brackets).
StatusError invalid(std::string_view group, std::string_view kind, std::string_view name,
                    std::vector<Cause> causes);
StatusError bad_request(std::string message);
StatusError expired(std::string message);

// Any Error as a client shall see it; internal ones without details.
StatusError to_status_error(const base::Error& error);
// What a server answered; nothing when `body` is no Status and `http_status` < 400.
std::optional<StatusError> parse_status(int http_status, std::string_view body);
// The same from a value (an ERROR event of a watch); nothing when it is no Status of a failure.
std::optional<StatusError> find_status_error(const base::Json& status);

}  // namespace meridian::kube
