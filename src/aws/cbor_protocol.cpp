// SPDX-License-Identifier: Apache-2.0
//
// Smithy RPC v2 CBOR: the body of a call and of an answer.
#include "aws/cbor.h"
#include "aws/protocol_parts.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;

void write(CborWriter& out, const Shape* shape, const Json& value);

void write_object(CborWriter& out, const Shape* shape, const Json& value) {
  const auto& object = value.get_object();
  out.map(object.size());
  for (const auto& [key, item] : object) {
    const std::string_view name(key.data(), key.size());
    const Member* member = shape ? shape->find_member(name) : nullptr;
    const Shape* inner = member ? member->shape : nullptr;
    if (shape && shape->type == Type::map) inner = shape->element.shape;
    out.text(name);
    write(out, inner, item);
  }
}

void write_number(CborWriter& out, const Shape* shape, const Json& value) {
  const auto type = shape ? shape->type : Type::structure;
  if (type == Type::timestamp) {
    out.epoch_seconds(value.to_number<double>());
  } else if (type == Type::floating || value.is_double()) {
    out.number(value.to_number<double>());
  } else if (value.is_uint64()) {
    out.unsigned_integer(value.get_uint64());
  } else {
    out.integer(value.get_int64());
  }
}

void write(CborWriter& out, const Shape* shape, const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null: out.null(); break;
    case boost::json::kind::bool_: out.boolean(value.get_bool()); break;
    case boost::json::kind::string: {
      const auto text = base::view(value.get_string());
      const bool blob = shape && shape->type == Type::blob;
      if (blob) {
        out.bytes(base::unbase64(text).value_or(""));
      } else {
        out.text(text);
      }
      break;
    }
    case boost::json::kind::array:
      out.array(value.get_array().size());
      for (const Json& item : value.get_array()) {
        write(out, shape ? shape->element.shape : nullptr, item);
      }
      break;
    case boost::json::kind::object: write_object(out, shape, value); break;
    default: write_number(out, shape, value);
  }
}

}  // namespace

base::JsonObject decode_cbor(std::string_view body) {
  if (body.empty()) return {};
  auto parsed = parse_cbor(body);
  if (!parsed) throw ApiError("SerializationException", parsed.error().text());
  if (!parsed->is_object()) throw ApiError("SerializationException", "the body must be a CBOR map");
  return std::move(parsed->get_object());
}

std::string encode_cbor(const Shape* shape, const base::Json& output) {
  CborWriter out;
  write(out, shape, output.is_object() ? output : Json(base::JsonObject{}));
  return out.finish();
}

}  // namespace meridian::aws
