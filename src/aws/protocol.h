// The wire forms of AWS calls: a request becomes {service, operation, input as JSON}; an answer or
// an error becomes a response in the same form.
//
//   CallForm form = identify(request, claim.service);       // from the head alone
//   Call call = decode(form, request, body);                // ApiError: not understood
//   responder.send(encode(form, *call.operation, answer, request_id));
//
// Forms: JSON 1.0 and 1.1 (X-Amz-Target), REST-JSON (URI templates), Query (form fields in, XML
// out), Smithy RPC v2 CBOR. Values inside: timestamps are epoch seconds, blobs base64 text.
//
// Source: the protocol pages of Smithy (smithy.io/2.0/aws/protocols) and recorded requests of
// boto3, the AWS CLI and the JavaScript SDK. Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "aws/model.h"
#include "aws/service.h"
#include "base/json.h"
#include "net/http.h"

namespace meridian::aws {

enum class Protocol { json_1_0, json_1_1, rest_json, query, cbor };

struct CallForm {
  Protocol protocol = Protocol::json_1_1;
  const Model* model = nullptr;  // nullptr: no service of ours
  std::string operation;         // "" when only the body says (Query) or nothing fits
};

// What the head of a request says. `signing_service` is the service of its signature, "" if none.
CallForm identify(const net::Request& request, std::string_view signing_service);

struct Call {
  const Operation* operation = nullptr;
  base::JsonObject input;  // not validated yet: see aws::inspect
};

// ApiError: UnknownOperationException (misspelt, or AWS's but not ours yet),
// SerializationException. Fills form.operation where the body tells it.
Call decode(CallForm& form, const net::Request& request, std::string_view body);

net::Response encode(const CallForm& form, const Operation& operation, const base::Json& output,
                     std::string_view request_id);
net::Response encode_error(const CallForm& form, const ApiError& error,
                           std::string_view request_id);

// A JSON document that must be an object; empty text is an empty object.
// ApiError(SerializationException).
base::JsonObject decode_json_object(std::string_view body);

}  // namespace meridian::aws
