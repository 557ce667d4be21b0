// What an AWS-shaped service is to the front: operations by name, JSON in, JSON out.
//
// The front (region/front) authenticates, finds service and operation, decodes the protocol,
// validates the input against the API model and calls the handler; the answer goes back through the
// protocol. A handler sees only valid shapes, whatever the wire form was. Timestamps are numbers
// (epoch seconds) in both directions; blobs are base64 text. S3 and other streaming services do not
// come through here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::aws {

// Who calls, from where, for the log and for records.
struct CallContext {
  std::string account;  // 12 digits
  std::string region;
  std::string principal_arn;
  std::string principal_name;
  std::string request_id;
  std::string user_agent;
  std::string access_key_id;
  bool may_write = true;  // false for viewers: the front refuses before the handler
  // Paths of input fields that the API model does not have ("ResourceConfig.Foo"): they are still
  // in the input, to be recorded, echoed and named in a warning.
  std::vector<std::string> unknown_fields;
};

// The error a client sees: AWS's code and HTTP status.
class ApiError : public base::Error {
 public:
  ApiError(std::string aws_code, std::string message, int status = 400);
  const std::string& aws_code() const { return aws_code_; }
  int status() const { return status_; }

 private:
  std::string aws_code_;
  int status_;
};

// Any Error as the error a client sees (internal ones become InternalFailure/500 without details).
ApiError to_api_error(const base::Error& error);

using OperationHandler =
    std::function<base::Json(const CallContext&, const base::JsonObject& input)>;

// service: the API model's name ("sagemaker", "logs", "monitoring", "sts", "iam", "batch", …).
struct Service {
  std::string name;
  std::map<std::string, OperationHandler, std::less<>> operations;
};

// A service whose operations are functions of one object, which must outlive it:
//
//   constexpr CoreOperation<Core> kOperations[] = {{"ListThings", list_things}, …};
//   return make_service("things", core, kOperations);
template <class Core>
using CoreOperation = std::pair<const char*, base::Json (*)(Core&, const base::JsonObject&)>;

template <class Core, std::size_t N>
Service make_service(std::string name, Core& core, const CoreOperation<Core> (&operations)[N]) {
  Service service{.name = std::move(name), .operations = {}};
  for (const auto& [operation, handler] : operations)
    service.operations[operation] = [&core, handler = handler](const CallContext&,
                                                               const base::JsonObject& input) {
      return handler(core, input);
    };
  return service;
}

}  // namespace meridian::aws
