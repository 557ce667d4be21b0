// SPDX-License-Identifier: Apache-2.0
//
// REST-JSON: values in the path, the query, headers and the body.
#include "aws/protocol_parts.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string decoded(std::string_view text) {
  return base::percent_decode(text).value_or(std::string(text));
}

// "/v1/tags/{resourceArn}" against a raw path; "{Key+}" takes the rest, slashes and all.
std::optional<Labels> match_template(std::string_view uri, std::string_view path) {
  const auto pattern = base::split(uri.substr(0, uri.find('?')), '/');
  const auto given = base::split(path, '/');
  Labels labels;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string& part = pattern[i];
    if (i >= given.size()) return std::nullopt;
    if (!part.starts_with('{')) {
      if (part != given[i]) return std::nullopt;
      continue;
    }
    const bool greedy = part.ends_with("+}");
    const auto name = part.substr(1, part.size() - (greedy ? 3 : 2));
    if (given[i].empty()) return std::nullopt;
    if (!greedy) {
      labels.emplace_back(name, decoded(given[i]));
      continue;
    }
    std::vector<std::string> rest(given.begin() + static_cast<std::ptrdiff_t>(i), given.end());
    labels.emplace_back(name, decoded(base::join(rest, "/")));
    return labels;
  }
  if (given.size() != pattern.size()) return std::nullopt;
  return labels;
}

// Text of a path, query or header as the member's type.
Json from_text(const Shape& shape, const std::string& text) {
  switch (shape.type) {
    case Type::integer:
    case Type::long_integer:
      if (const auto number = base::to_int(text)) return *number;
      break;
    case Type::floating:
      if (const auto number = base::to_double(text)) return *number;
      break;
    case Type::boolean:
      if (text == "true") return true;
      if (text == "false") return false;
      break;
    default: break;
  }
  return Json(text);  // a wrong kind is reported by inspect, with its path
}

void take_query(const Member& member, const net::Request& request, JsonObject& input) {
  JsonArray all;
  const bool list = member.shape->type == Type::list;
  for (const auto& [name, value] : net::parse_query(request.query, true)) {
    if (name != member.wire_name) continue;
    if (!list) input[member.name] = from_text(*member.shape, value);
    if (list) all.push_back(from_text(*member.shape->element.shape, value));
  }
  if (!all.empty()) input[member.name] = std::move(all);
}

void take_head(const Operation& operation, const net::Request& request, JsonObject& input) {
  const auto labels = match_template(operation.uri, request.path).value_or(Labels{});
  for (const auto& member : operation.input->members) {
    if (member.location == Location::uri) {
      for (const auto& [name, value] : labels) {
        if (name == member.wire_name) input[member.name] = from_text(*member.shape, value);
      }
    } else if (member.location == Location::query) {
      take_query(member, request, input);
    } else if (member.location == Location::header) {
      if (const auto value = request.headers.find(member.wire_name)) {
        input[member.name] = from_text(*member.shape, *value);
      }
    }
  }
}

std::string header_text(const Member& member, const Json& value) {
  if (member.shape->type == Type::timestamp) {
    return timestamp_text(value,
                          member.timestamp_format.empty() ? "rfc822" : member.timestamp_format);
  }
  return value.is_string() ? std::string(base::view(value.get_string())) : base::to_text(value);
}

std::string payload_text(const Member& payload, const Json& value) {
  if (payload.shape->type == Type::blob && value.is_string()) {
    return base::unbase64(base::view(value.get_string())).value_or("");
  }
  return value.is_string() ? std::string(base::view(value.get_string())) : base::to_text(value);
}

}  // namespace

std::string find_rest_operation(const Model& model, const net::Request& request) {
  std::string found;
  std::size_t fewest_labels = static_cast<std::size_t>(-1);
  for (const auto& [name, operation] : model.operations()) {
    if (operation.method != request.method) continue;
    const auto labels = match_template(operation.uri, request.path);
    if (!labels || labels->size() >= fewest_labels) continue;
    fewest_labels = labels->size();
    found = name;
  }
  return found;
}

base::JsonObject decode_rest(const Operation& operation, const net::Request& request,
                             std::string_view body) {
  if (!operation.input) return {};
  const Member* payload = operation.input->payload.empty()
                              ? nullptr
                              : operation.input->find_member(operation.input->payload);
  JsonObject input;
  if (payload && payload->shape->type == Type::blob) {
    input[payload->name] = base::base64(body);
  } else if (payload) {
    input[payload->name] = decode_json_object(body);
  } else {
    input = decode_json_object(body);
  }
  take_head(operation, request, input);
  return input;
}

net::Response encode_rest(const Operation& operation, const base::Json& output) {
  net::Response response{.status = operation.status};
  response.headers.set("content-type", "application/json");
  if (!operation.output || !output.is_object()) {
    response.body = "{}";
    return response;
  }
  JsonObject body = output.get_object();
  for (const auto& member : operation.output->members) {
    const Json* value = body.if_contains(member.name);
    if (!value) continue;
    if (member.location == Location::header) {
      response.headers.set(member.wire_name, header_text(member, *value));
    } else if (member.location == Location::status && value->is_int64()) {
      response.status = static_cast<int>(value->get_int64());
    } else {
      continue;
    }
    body.erase(member.name);
  }
  const Member* payload = operation.output->payload.empty()
                              ? nullptr
                              : operation.output->find_member(operation.output->payload);
  const Json* value = payload ? body.if_contains(payload->name) : nullptr;
  if (payload) {
    response.body = value ? payload_text(*payload, *value) : "";
  } else {
    response.body = base::to_text(body);
  }
  return response;
}

}  // namespace meridian::aws
