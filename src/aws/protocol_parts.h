// The pieces of protocol.h, one per wire form. Internal to aws.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/protocol.h"

namespace meridian::aws {

// REST: the operation whose method and URI template fit, "" if none.
std::string find_rest_operation(const Model& model, const net::Request& request);
base::JsonObject decode_rest(const Operation& operation, const net::Request& request,
                             std::string_view body);
net::Response encode_rest(const Operation& operation, const base::Json& output);

// Query: "Action" and fields from the URL and the form body.
std::string find_query_action(const net::Request& request, std::string_view body);
base::JsonObject decode_query(const Operation& operation, const net::Request& request,
                              std::string_view body);
net::Response encode_query(const Model& model, const Operation& operation, const base::Json& output,
                           std::string_view request_id);
net::Response encode_query_error(const Model* model, const std::string& code, const ApiError& error,
                                 std::string_view request_id);

base::JsonObject decode_cbor(std::string_view body);
std::string encode_cbor(const Shape* shape, const base::Json& output);

// Timestamps in headers and XML.
std::string timestamp_text(const base::Json& seconds, std::string_view format);

}  // namespace meridian::aws
