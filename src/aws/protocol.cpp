// SPDX-License-Identifier: Apache-2.0
#include "aws/protocol.h"

#include "aws/protocol_parts.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonObject;

const std::vector<const Model*>& all_models() {
  static const auto all = [] {
    std::vector<const Model*> out;
    for (const auto& name : model_names()) out.push_back(find_model(name));
    return out;
  }();
  return all;
}

const Model* model_by_target(std::string_view prefix) {
  for (const Model* model : all_models()) {
    if (!model->target_prefix().empty() && model->target_prefix() == prefix) return model;
  }
  return nullptr;
}

// "sagemaker" signs for two services; the protocol tells them apart.
const Model* model_by_signing(std::string_view service, std::string_view protocol) {
  for (const Model* model : all_models()) {
    if (model->signing_name() == service && (protocol.empty() || model->speaks(protocol))) {
      return model;
    }
  }
  return nullptr;
}

CallForm identify_target(const net::Request& request, std::string_view target) {
  CallForm form;
  const auto dot = target.rfind('.');
  form.model = model_by_target(target.substr(0, dot));
  if (dot != target.npos) form.operation = target.substr(dot + 1);
  const bool old = request.headers.get("content-type").find("json-1.0") != std::string::npos;
  form.protocol = old ? Protocol::json_1_0 : Protocol::json_1_1;
  return form;
}

// POST /service/GraniteServiceVersion20100801/operation/PutMetricData
std::optional<CallForm> identify_cbor(const net::Request& request) {
  if (request.headers.get("smithy-protocol") != "rpc-v2-cbor") return std::nullopt;
  CallForm form{.protocol = Protocol::cbor};
  const auto parts = base::split(request.path, '/');
  if (parts.size() == 5 && parts[1] == "service" && parts[3] == "operation") {
    form.model = model_by_target(parts[2]);
    form.operation = parts[4];
  }
  return form;
}

bool looks_like_query(const net::Request& request) {
  if (request.headers.get("content-type").starts_with("application/x-www-form-urlencoded")) {
    return true;
  }
  return request.query.starts_with("Action=") ||
         request.query.find("&Action=") != std::string::npos;
}

[[noreturn]] void refuse_operation(const CallForm& form) {
  const std::string name = base::to_valid_utf8(base::utf8_prefix(form.operation, 128));
  if (!form.model) {
    throw ApiError("UnknownOperationException", "Meridian serves no such API: '" + name + "'");
  }
  const std::string& service = form.model->name();
  if (form.model->is_other_operation(form.operation)) {
    throw ApiError("UnknownOperationException",
                   service + " " + name + " is not implemented by Meridian yet");
  }
  if (name.empty()) {
    throw ApiError("UnknownOperationException", "the request names no operation of " + service);
  }
  std::vector<std::string> known;
  for (const auto& [operation, facts] : form.model->operations()) known.push_back(operation);
  const auto near = base::nearest(name, known);
  throw ApiError("UnknownOperationException", service + " has no operation '" + name + "'" +
                                                  (near ? "; did you mean " + *near + "?" : ""));
}

// Codes of the Query protocol for what the front refuses in the words of JSON services.
constexpr std::pair<std::string_view, std::string_view> query_codes[] = {
    {"UnrecognizedClientException", "InvalidClientTokenId"},
    {"InvalidSignatureException", "SignatureDoesNotMatch"},
    {"ExpiredTokenException", "ExpiredToken"},
    {"AccessDeniedException", "AccessDenied"},
    {"UnknownOperationException", "InvalidAction"}};

// The code that Query clients read: an exception's own where the model gives one.
std::string wire_code(const CallForm& form, const ApiError& error) {
  for (const auto& [json, query] : query_codes) {
    if (error.aws_code() == json) return std::string(query);
  }
  const Shape* shape = form.model ? form.model->find_shape(error.aws_code()) : nullptr;
  return shape && !shape->error_code.empty() ? shape->error_code : error.aws_code();
}

// The name of the exception's shape, which typed clients look for.
std::string shape_name(const CallForm& form, const ApiError& error) {
  if (!form.model || !form.model->query_compatible()) return error.aws_code();
  if (form.model->find_shape(error.aws_code())) return error.aws_code();
  for (const auto& [name, operation] : form.model->operations()) {
    for (const Shape* shape : operation.errors) {
      if (shape->error_code == error.aws_code()) return shape->name;
    }
  }
  return error.aws_code();
}

void add_json_error(net::Response& response, const CallForm& form, const ApiError& error) {
  const std::string type = shape_name(form, error);
  response.headers.set("x-amzn-errortype", type);
  if (form.model && form.model->query_compatible()) {
    response.headers.set("x-amzn-query-error",
                         wire_code(form, error) + (error.status() < 500 ? ";Sender" : ";Receiver"));
  }
  const Json body = JsonObject{{"__type", type}, {"message", error.message()}};
  if (form.protocol == Protocol::cbor) {
    response.headers.set("smithy-protocol", "rpc-v2-cbor");
    response.headers.set("content-type", "application/cbor");
    response.body = encode_cbor(nullptr, body);
    return;
  }
  response.body = base::to_text(body);
}

std::string_view content_type(Protocol protocol) {
  switch (protocol) {
    case Protocol::json_1_0: return "application/x-amz-json-1.0";
    case Protocol::json_1_1: return "application/x-amz-json-1.1";
    case Protocol::rest_json: return "application/json";
    case Protocol::query: return "text/xml";
    case Protocol::cbor: return "application/cbor";
  }
  return "application/json";
}

}  // namespace

CallForm identify(const net::Request& request, std::string_view signing_service) {
  if (const auto target = request.headers.find("x-amz-target")) {
    return identify_target(request, *target);
  }
  if (auto form = identify_cbor(request)) return *form;
  const Model* model = model_by_signing(signing_service, "query");
  if (looks_like_query(request) && (model || signing_service.empty())) {
    return {
        .protocol = Protocol::query, .model = model, .operation = find_query_action(request, "")};
  }
  model = model_by_signing(signing_service, "rest-json");
  if (model) {
    return {.protocol = Protocol::rest_json,
            .model = model,
            .operation = find_rest_operation(*model, request)};
  }
  model = model_by_signing(signing_service, "");
  const bool query = model && model->speaks("query") && !model->speaks("json");
  return {
      .protocol = query ? Protocol::query : Protocol::json_1_1, .model = model, .operation = ""};
}

base::JsonObject decode_json_object(std::string_view body) {
  if (base::trim(body).empty()) return {};
  auto parsed = base::parse_json(body);
  if (!parsed) {
    throw ApiError("SerializationException", "the body is not JSON: " + parsed.error().text());
  }
  if (!parsed->is_object()) {
    throw ApiError("SerializationException", "the body must be a JSON object");
  }
  return std::move(parsed->get_object());
}

Call decode(CallForm& form, const net::Request& request, std::string_view body) {
  if (form.protocol == Protocol::query && form.operation.empty()) {
    form.operation = find_query_action(request, body);
  }
  Call call;
  if (form.model) call.operation = form.model->find_operation(form.operation);
  if (!call.operation) refuse_operation(form);
  switch (form.protocol) {
    case Protocol::json_1_0:
    case Protocol::json_1_1: call.input = decode_json_object(body); break;
    case Protocol::rest_json: call.input = decode_rest(*call.operation, request, body); break;
    case Protocol::query: call.input = decode_query(*call.operation, request, body); break;
    case Protocol::cbor: call.input = decode_cbor(body); break;
  }
  return call;
}

net::Response encode(const CallForm& form, const Operation& operation, const base::Json& output,
                     std::string_view request_id) {
  if (form.protocol == Protocol::query) {
    return encode_query(*form.model, operation, output, request_id);
  }
  net::Response response;
  if (form.protocol == Protocol::rest_json) {
    response = encode_rest(operation, output);
  } else if (form.protocol == Protocol::cbor) {
    response.headers.set("smithy-protocol", "rpc-v2-cbor");
    response.headers.set("content-type", "application/cbor");
    response.body = encode_cbor(operation.output, output);
  } else {
    response.headers.set("content-type", std::string(content_type(form.protocol)));
    if (operation.output) response.body = base::to_text(output);
  }
  response.headers.set("x-amzn-requestid", std::string(request_id));
  return response;
}

net::Response encode_error(const CallForm& form, const ApiError& error,
                           std::string_view request_id) {
  if (form.protocol == Protocol::query) {
    return encode_query_error(form.model, wire_code(form, error), error, request_id);
  }
  net::Response response{.status = error.status()};
  response.headers.set("content-type", std::string(content_type(form.protocol)));
  response.headers.set("x-amzn-requestid", std::string(request_id));
  add_json_error(response, form, error);
  return response;
}

std::string timestamp_text(const base::Json& seconds, std::string_view format) {
  const double value = seconds.is_number() ? seconds.to_number<double>() : 0;
  const base::Timestamp time{static_cast<std::int64_t>(value * 1000.0 + (value < 0 ? -0.5 : 0.5))};
  if (format == "unixTimestamp") return base::number_text(value);
  if (format == "rfc822") return base::format_http_date(time);
  return time.ms % 1000 ? base::format_iso8601(time) : base::format_iso8601_seconds(time);
}

}  // namespace meridian::aws
