// SPDX-License-Identifier: Apache-2.0
#include "aws/model.h"

#include <algorithm>

#include "aws/model_data.h"
#include "base/json.h"
#include "base/sync.h"

namespace meridian::aws {
namespace {

using base::Json;
using base::JsonObject;

std::vector<std::string> strings(const Json& object, std::string_view key) {
  std::vector<std::string> out;
  const Json* list = base::find(object, key);
  if (!list) return out;
  for (const Json& item : list->as_array()) out.emplace_back(base::view(item.as_string()));
  return out;
}

Type parse_type(std::string_view text) {
  if (text == "structure") return Type::structure;
  if (text == "list") return Type::list;
  if (text == "map") return Type::map;
  if (text == "string" || text == "character") return Type::string;
  if (text == "integer") return Type::integer;
  if (text == "long") return Type::long_integer;
  if (text == "float" || text == "double") return Type::floating;
  if (text == "boolean") return Type::boolean;
  if (text == "timestamp") return Type::timestamp;
  if (text == "blob") return Type::blob;
  throw base::Error(base::Code::data_loss, "API model: unknown type '" + std::string(text) + "'");
}

Location parse_location(std::string_view text) {
  if (text == "uri") return Location::uri;
  if (text == "querystring") return Location::query;
  if (text == "header") return Location::header;
  if (text == "headers") return Location::headers;
  if (text == "statusCode") return Location::status;
  return Location::body;
}

using Shapes = std::map<std::string, std::unique_ptr<Shape>, std::less<>>;

// A member is a shape's name, or an object when there is more to say.
Member parse_member(const Shapes& shapes, std::string_view name, const Json& fact) {
  const std::string shape =
      fact.is_string() ? std::string(base::view(fact.as_string())) : base::string_or(fact, "shape");
  const auto found = shapes.find(shape);
  if (found == shapes.end()) {
    throw base::Error(base::Code::data_loss, "API model: no shape '" + shape + "'");
  }
  Member out{.name = std::string(name),
             .wire_name = base::string_or(fact, "locationName", name),
             .shape = found->second.get(),
             .location = parse_location(base::string_or(fact, "location")),
             .flattened = base::bool_or(fact, "flattened", false),
             .timestamp_format = base::string_or(fact, "timestampFormat")};
  return out;
}

void fill_shape(Shape& shape, const Json& fact, const Shapes& shapes) {
  shape.required = strings(fact, "required");
  shape.values = strings(fact, "enum");
  shape.pattern = base::string_or(fact, "pattern");
  shape.flattened = base::bool_or(fact, "flattened", false);
  shape.is_event_stream = base::bool_or(fact, "eventstream", false);
  shape.payload = base::string_or(fact, "payload");
  shape.timestamp_format = base::string_or(fact, "timestampFormat");
  if (const Json* min = base::find(fact, "min")) shape.min = min->to_number<double>();
  if (const Json* max = base::find(fact, "max")) shape.max = max->to_number<double>();
  if (const Json* error = base::find(fact, "exception")) {
    shape.error_code = base::string_or(*error, "code");
    shape.error_status = static_cast<int>(base::int_or(*error, "httpStatusCode", 0));
    if (!shape.error_status && base::bool_or(fact, "fault", false)) shape.error_status = 500;
  }
  if (const Json* members = base::find(fact, "members")) {
    for (const auto& [name, member] : members->as_object()) {
      shape.members.push_back(parse_member(shapes, {name.data(), name.size()}, member));
    }
  }
  if (const Json* member = base::find(fact, "member")) {
    shape.element = parse_member(shapes, "member", *member);
  }
  if (const Json* key = base::find(fact, "key")) shape.key = parse_member(shapes, "key", *key);
  if (const Json* value = base::find(fact, "value")) {
    shape.element = parse_member(shapes, "value", *value);
  }
}

const Shape* shape_of(const Shapes& shapes, const Json& fact, std::string_view key) {
  const auto found = shapes.find(base::string_or(fact, key));
  return found == shapes.end() ? nullptr : found->second.get();
}

Operation parse_operation(std::string_view name, const Json& fact, const Shapes& shapes) {
  Operation out{.name = std::string(name),
                .method = base::string_or(fact, "method"),
                .uri = base::string_or(fact, "uri"),
                .status = static_cast<int>(base::int_or(fact, "status", 200)),
                .input = shape_of(shapes, fact, "input"),
                .output = shape_of(shapes, fact, "output"),
                .result_wrapper = base::string_or(fact, "resultWrapper"),
                .errors = {}};
  for (const auto& error : strings(fact, "errors")) {
    if (const auto found = shapes.find(error); found != shapes.end()) {
      out.errors.push_back(found->second.get());
    }
  }
  return out;
}

}  // namespace

const Member* Shape::find_member(std::string_view member) const {
  for (const auto& m : members) {
    if (m.name == member) return &m;
  }
  return nullptr;
}

Model::Model(std::string_view json) {
  const Json model = base::parse_stored_json(json, "API model");
  name_ = base::string_or(model, "name");
  signing_name_ = base::string_or(model, "signingName");
  target_prefix_ = base::string_or(model, "targetPrefix");
  xml_namespace_ = base::string_or(model, "xmlNamespace");
  query_compatible_ = base::bool_or(model, "awsQueryCompatible", false);
  protocols_ = strings(model, "protocols");
  others_ = strings(model, "otherOperations");
  const JsonObject& shapes = model.at("shapes").as_object();
  for (const auto& [key, fact] : shapes) {  // first all names, because shapes refer to each other
    auto shape = std::make_unique<Shape>();
    shape->name = std::string(key);
    shape->type = parse_type(base::string_or(fact, "type"));
    shapes_.emplace(shape->name, std::move(shape));
  }
  for (const auto& [key, fact] : shapes) fill_shape(*shapes_.at(std::string(key)), fact, shapes_);
  for (const auto& [key, fact] : model.at("operations").as_object()) {
    operations_.emplace(key, parse_operation({key.data(), key.size()}, fact, shapes_));
  }
}

bool Model::speaks(std::string_view protocol) const {
  return std::find(protocols_.begin(), protocols_.end(), protocol) != protocols_.end();
}

const Operation* Model::find_operation(std::string_view operation) const {
  const auto found = operations_.find(operation);
  return found == operations_.end() ? nullptr : &found->second;
}

bool Model::is_other_operation(std::string_view operation) const {
  return std::find(others_.begin(), others_.end(), operation) != others_.end();
}

const Shape* Model::find_shape(std::string_view shape) const {
  const auto found = shapes_.find(shape);
  return found == shapes_.end() ? nullptr : found->second.get();
}

std::vector<const Shape*> Model::shapes() const {
  std::vector<const Shape*> out;
  for (const auto& [name, shape] : shapes_) out.push_back(shape.get());
  return out;
}

const Model* find_model(std::string_view service) {
  static const base::Sync<std::map<std::string, std::unique_ptr<Model>, std::less<>>> parsed;
  auto models = parsed.lock();
  if (const auto found = models->find(service); found != models->end()) {
    return found->second.get();
  }
  for (const auto& text : model_texts()) {
    if (text.service != service) continue;
    auto& slot = (*models)[std::string(service)];
    slot = std::make_unique<Model>(text.json);
    return slot.get();
  }
  return nullptr;
}

const Model& get_model(std::string_view service) {
  if (const Model* model = find_model(service)) return *model;
  throw base::Error(base::Code::not_found, "no API model of '" + std::string(service) + "'");
}

std::vector<std::string> model_names() {
  std::vector<std::string> out;
  for (const auto& text : model_texts()) out.emplace_back(text.service);
  return out;
}

}  // namespace meridian::aws
