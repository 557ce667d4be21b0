// SPDX-License-Identifier: Apache-2.0
//
// The AWS Query protocol: "MetricData.member.1.MetricName=loss" in, XML out.
#include <map>

#include "aws/protocol_parts.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/xml.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t max_fields = 50'000;
constexpr std::size_t max_depth = 24;

// The fields as a tree: what the dots between their names mean.
struct Node {
  std::optional<std::string> text;
  std::map<std::string, Node, std::less<>> children;

  const Node* find(std::string_view name) const {
    const auto found = children.find(name);
    return found == children.end() ? nullptr : &found->second;
  }
  // Children that are numbers, in their order.
  std::map<std::uint64_t, const Node*> numbered() const {
    std::map<std::uint64_t, const Node*> out;
    for (const auto& [name, child] : children) {
      if (const auto number = base::to_uint(name)) out.emplace(*number, &child);
    }
    return out;
  }
};

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields fields_of(const net::Request& request, std::string_view body) {
  Fields fields = net::parse_query(request.query, true);
  for (auto& field : net::parse_query(body, true)) fields.push_back(std::move(field));
  if (fields.size() > max_fields) {
    throw ApiError("MalformedInput", "the request has more than 50000 fields");
  }
  return fields;
}

Node tree_of(const Fields& fields) {
  Node root;
  for (const auto& [name, value] : fields) {
    Node* node = &root;
    const auto parts = base::split(name, '.');
    if (parts.size() > max_depth) {
      throw ApiError("MalformedInput", "field names are nested too deeply");
    }
    for (const auto& part : parts) node = &node->children[part];
    node->text = value;
  }
  return root;
}

Json scalar(const Shape& shape, const std::string& text) {
  switch (shape.type) {
    case Type::integer:
    case Type::long_integer:
      if (const auto number = base::to_int(text)) return *number;
      break;
    case Type::floating:
      if (const auto number = base::to_double(text)) return *number;
      break;
    case Type::boolean:
      if (base::equals_ignoring_case(text, "true")) return true;
      if (base::equals_ignoring_case(text, "false")) return false;
      break;
    default: break;
  }
  return Json(text);  // a wrong kind is reported by inspect, with its path
}

Json value_of(const Shape& shape, const Node& node, bool flattened);

JsonObject structure_of(const Shape& shape, const Node& node) {
  JsonObject out;
  for (const auto& member : shape.members) {
    const bool flat = member.flattened || member.shape->flattened;
    const Node* child = node.find(member.wire_name);
    if (!child) child = node.find(member.name);
    if (!child && flat && member.shape->type == Type::list) {  // flattened under the element's name
      child = node.find(member.shape->element.wire_name);
    }
    if (child) out[member.name] = value_of(*member.shape, *child, flat);
  }
  return out;
}

JsonArray list_of(const Shape& shape, const Node& node, bool flattened) {
  JsonArray out;
  const Node* items = &node;
  if (!flattened) {
    items = node.find(shape.element.wire_name);
    if (!items) items = node.find("member");
  }
  if (!items) return out;  // "Tags=" is an empty list
  for (const auto& [number, item] : items->numbered()) {
    out.push_back(value_of(*shape.element.shape, *item, false));
  }
  return out;
}

JsonObject map_of(const Shape& shape, const Node& node, bool flattened) {
  JsonObject out;
  const Node* entries = flattened ? &node : node.find("entry");
  if (!entries) return out;
  for (const auto& [number, entry] : entries->numbered()) {
    const Node* key = entry->find(shape.key.wire_name);
    const Node* value = entry->find(shape.element.wire_name);
    if (key && key->text && value) {
      out[*key->text] = value_of(*shape.element.shape, *value, false);
    }
  }
  return out;
}

Json value_of(const Shape& shape, const Node& node, bool flattened) {
  switch (shape.type) {
    case Type::structure: return structure_of(shape, node);
    case Type::list: return list_of(shape, node, flattened);
    case Type::map: return map_of(shape, node, flattened);
    default: return node.text ? scalar(shape, *node.text) : Json();
  }
}

class Writer {
 public:
  explicit Writer(base::XmlWriter& xml) : xml_(xml) {}

  void structure(const Shape& shape, const Json& value) {
    for (const auto& member : shape.members) {
      if (const Json* child = base::find(value, member.name)) {
        const bool flat = member.flattened || member.shape->flattened;
        element(member.wire_name, member, *child, flat);
      }
    }
  }

 private:
  void element(const std::string& name, const Member& use, const Json& value, bool flattened) {
    const Shape& shape = *use.shape;
    if (flattened && shape.type == Type::list && value.is_array()) {
      for (const Json& item : value.get_array()) element(name, shape.element, item, false);
      return;
    }
    if (flattened && shape.type == Type::map && value.is_object()) {
      for (const auto& [key, item] : value.get_object()) entry(name, shape, key, item);
      return;
    }
    if (shape.type == Type::structure || shape.type == Type::list || shape.type == Type::map) {
      xml_.open(name);
      content(shape, value);
      xml_.close();
      return;
    }
    xml_.element(name, scalar_text(use, value));
  }

  void content(const Shape& shape, const Json& value) {
    if (shape.type == Type::structure) {
      structure(shape, value);
    } else if (shape.type == Type::list && value.is_array()) {
      for (const Json& item : value.get_array()) {
        element(shape.element.wire_name, shape.element, item, false);
      }
    } else if (shape.type == Type::map && value.is_object()) {
      for (const auto& [key, item] : value.get_object()) entry("entry", shape, key, item);
    }
  }

  void entry(std::string_view name, const Shape& shape, std::string_view key, const Json& value) {
    xml_.open(name);
    xml_.element(shape.key.wire_name, key);
    element(shape.element.wire_name, shape.element, value, false);
    xml_.close();
  }

  static std::string scalar_text(const Member& use, const Json& value) {
    if (use.shape->type == Type::timestamp) {
      const auto& own = use.timestamp_format;
      return timestamp_text(value, own.empty() ? use.shape->timestamp_format : own);
    }
    return value.is_string() ? std::string(base::view(value.get_string())) : base::to_text(value);
  }

  base::XmlWriter& xml_;
};

}  // namespace

std::string find_query_action(const net::Request& request, std::string_view body) {
  for (const std::string_view text : {std::string_view(request.query), body}) {
    for (const auto& [name, value] : net::parse_query(text, true)) {
      if (name == "Action") return value;
    }
  }
  return "";
}

base::JsonObject decode_query(const Operation& operation, const net::Request& request,
                              std::string_view body) {
  if (!operation.input) return {};
  return structure_of(*operation.input, tree_of(fields_of(request, body)));
}

net::Response encode_query(const Model& model, const Operation& operation, const base::Json& output,
                           std::string_view request_id) {
  base::XmlWriter xml;
  xml.open(operation.name + "Response", model.xml_namespace());
  if (operation.output) {
    const bool wrapped = !operation.result_wrapper.empty();
    if (wrapped) xml.open(operation.result_wrapper);
    Writer(xml).structure(*operation.output, output);
    if (wrapped) xml.close();
  }
  xml.open("ResponseMetadata").element("RequestId", request_id).close();
  net::Response response;
  response.headers.set("content-type", "text/xml");
  response.headers.set("x-amzn-requestid", std::string(request_id));
  response.body = xml.finish();
  return response;
}

net::Response encode_query_error(const Model* model, const std::string& code, const ApiError& error,
                                 std::string_view request_id) {
  base::XmlWriter xml;
  xml.open("ErrorResponse", model ? model->xml_namespace() : "");
  xml.open("Error");
  xml.element("Type", error.status() < 500 ? "Sender" : "Receiver");
  xml.element("Code", code);
  xml.element("Message", error.message());
  xml.close();
  xml.element("RequestId", request_id);
  net::Response response{.status = error.status()};
  response.headers.set("content-type", "text/xml");
  response.headers.set("x-amzn-requestid", std::string(request_id));
  response.body = xml.finish();
  return response;
}

}  // namespace meridian::aws
