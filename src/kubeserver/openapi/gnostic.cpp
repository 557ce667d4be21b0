// The protobuf form of OpenAPI v2.
//
// Field numbers: OpenAPIv2.proto of github.com/google/gnostic.
//
// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/documents.h"
#include "kubeserver/openapi/wire.h"

namespace meridian::kubeserver::openapi {
namespace {

using base::Json;
using base::JsonObject;

Message any(const Json& value) { return std::move(Message().add(2, base::to_text(value))); }

Message named(std::string_view name, const Message& value) {
  return std::move(Message().add(1, name).add(2, value));
}

void add_text(Message& out, int field, const Json& object, std::string_view name) {
  const std::string text = base::string_or(object, name);
  if (!text.empty()) out.add(field, text);
}

void add_texts(Message& out, int field, const Json& object, std::string_view name) {
  const Json* list = base::find(object, name);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& one : list->get_array()) {
    if (one.is_string()) out.add(field, base::view(one.get_string()));
  }
}

void add_extensions(Message& out, int field, const Json& object) {
  for (const auto& [name, value] : object.as_object()) {
    if (std::string_view(name).starts_with("x-")) out.add(field, named(name, any(value)));
  }
}

Message schema(const Json& json);

Message properties(const Json& json) {
  Message out;
  for (const auto& [name, value] : json.as_object()) out.add(1, named(name, schema(value)));
  return out;
}

Message schema(const Json& json) {
  Message out;
  if (!json.is_object()) return out;
  add_text(out, 1, json, "$ref");
  add_text(out, 2, json, "format");
  add_text(out, 4, json, "description");
  add_text(out, 13, json, "pattern");
  add_texts(out, 19, json, "required");
  if (const Json* values = base::find(json, "enum"); values != nullptr && values->is_array()) {
    for (const Json& value : values->get_array()) out.add(20, any(value));
  }
  if (const Json* more = base::find(json, "additionalProperties")) {
    out.add(21, more->is_bool() ? Message().add_number(2, more->get_bool() ? 1 : 0)
                                : Message().add(1, schema(*more)));
  }
  if (const std::string type = base::string_or(json, "type"); !type.empty()) {
    out.add(22, Message().add(1, type));
  }
  if (const Json* items = base::find(json, "items")) out.add(23, Message().add(1, schema(*items)));
  if (const Json* members = base::find(json, "properties"); members && members->is_object()) {
    out.add(25, properties(*members));
  }
  add_extensions(out, 31, json);
  return out;
}

// A query parameter: ParametersItem → Parameter → NonBodyParameter → QueryParameterSubSchema.
Message parameter(const Json& json) {
  Message query;
  add_text(query, 2, json, "in");
  add_text(query, 4, json, "name");
  add_text(query, 6, json, "type");
  const Message not_body = std::move(Message().add(3, query));
  const Message whole = std::move(Message().add(2, not_body));
  return std::move(Message().add(1, whole));
}

Message operation(const Json& json) {
  Message out;
  add_text(out, 5, json, "operationId");
  if (const Json* list = base::find(json, "parameters"); list && list->is_array()) {
    for (const Json& one : list->get_array()) out.add(8, parameter(one));
  }
  Message response;
  response.add(1, Message().add(1, "OK"));
  out.add(9, Message().add(1, named("200", response)));
  add_extensions(out, 13, json);
  return out;
}

Message path_item(const Json& json) {
  constexpr std::pair<std::string_view, int> methods[] = {
      {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (const auto& [name, field] : methods) {
    if (const Json* one = base::find(json, name)) out.add(field, operation(*one));
  }
  return out;
}

}  // namespace

std::string to_gnostic(const Json& document) {
  Message info, paths, definitions;
  const Json* about = base::find(document, "info");
  add_text(info, 1, *about, "title");
  add_text(info, 2, *about, "version");
  for (const auto& [path, item] : document.at("paths").as_object()) {
    paths.add(2, named(path, path_item(item)));
  }
  for (const auto& [name, value] : document.at("definitions").as_object()) {
    definitions.add(1, named(name, schema(value)));
  }
  Message out;
  out.add(1, base::string_or(document, "swagger")).add(2, info).add(8, paths).add(9, definitions);
  return out.bytes();
}

}  // namespace meridian::kubeserver::openapi
