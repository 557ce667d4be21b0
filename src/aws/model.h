// The API models of the services that Meridian speaks: operations and shapes, as data (design D7).
//
//   const Model& m = get_model("sagemaker");
//   const Operation* op = m.find_operation("CreateTrainingJob");
//   Inspection seen = inspect(*op, input);  // all violations at once, in AWS's words
//
// Source: api/*.json, extracted from botocore (api/SOURCE); embedded in the binary, one service
// parsed when first asked for. Immutable afterwards; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace meridian::aws {

enum class Type {
  structure,
  list,
  map,
  string,
  integer,  // 32 bits
  long_integer,
  floating,  // float and double
  boolean,
  timestamp,
  blob,
};

struct Shape;

enum class Location { body, uri, query, header, headers, status };

// A use of a shape: member of a structure, element of a list, key or value of a map.
struct Member {
  std::string name;       // as the API spells it
  std::string wire_name;  // locationName, else the name
  const Shape* shape = nullptr;
  Location location = Location::body;
  bool flattened = false;
  std::string timestamp_format;  // "", "iso8601", "rfc822", "unixTimestamp"
};

struct Shape {
  std::string name;
  Type type = Type::structure;
  std::vector<Member> members;        // structure
  std::vector<std::string> required;  // structure
  Member element, key;                // list; map (element = value)
  std::optional<double> min, max;     // of the value, the length or the count
  std::string pattern;                // whole value must match
  std::vector<std::string> values;    // enum
  bool flattened = false;
  bool is_event_stream = false;
  std::string payload;     // member that is the whole body (REST)
  std::string error_code;  // exceptions: wire code when it differs from the name
  int error_status = 0;    // exceptions: HTTP status, 0 = not said
  std::string timestamp_format;

  const Member* find_member(std::string_view member) const;
};

struct Operation {
  std::string name, method, uri;
  int status = 200;
  const Shape* input = nullptr;   // nullptr: takes nothing
  const Shape* output = nullptr;  // nullptr: answers nothing
  std::string result_wrapper;
  std::vector<const Shape*> errors;
};

class Model {
 public:
  explicit Model(std::string_view json);  // Error(data_loss): the text is not a model

  const std::string& name() const { return name_; }
  const std::string& signing_name() const { return signing_name_; }
  const std::string& target_prefix() const { return target_prefix_; }  // "" unless JSON
  const std::string& xml_namespace() const { return xml_namespace_; }
  bool speaks(std::string_view protocol) const;  // "json", "rest-json", "query", …
  bool query_compatible() const { return query_compatible_; }

  const Operation* find_operation(std::string_view operation) const;
  const std::map<std::string, Operation, std::less<>>& operations() const { return operations_; }
  // AWS has it, api/ holds only its name.
  bool is_other_operation(std::string_view operation) const;
  const Shape* find_shape(std::string_view shape) const;
  std::vector<const Shape*> shapes() const;

 private:
  std::string name_, signing_name_, target_prefix_, xml_namespace_;
  std::vector<std::string> protocols_, others_;
  bool query_compatible_ = false;
  std::map<std::string, std::unique_ptr<Shape>, std::less<>> shapes_;
  std::map<std::string, Operation, std::less<>> operations_;
};

const Model* find_model(std::string_view service);
const Model& get_model(std::string_view service);  // Error(not_found)
std::vector<std::string> model_names();

// What validation found. Input with a message must be refused with ValidationException.
struct Inspection {
  // "2 validation errors detected: Value 'x' at 'tags.1.member.key' failed to satisfy …; …";
  // empty = nothing wrong.
  std::string message;
  std::vector<std::string> unknown_fields;  // "ResourceConfig.Foo": kept in the input
};

// Checks `input` against the operation's input shape and brings it to the form that handlers see:
// nulls removed, ISO 8601 timestamps as epoch seconds, whole numbers as integers.
// ApiError(SerializationException): a value of the wrong JSON type, with its path.
Inspection inspect(const Operation& operation, base::JsonObject& input);

// Whether the whole of `text` matches an API pattern (Java's syntax, by PCRE2; bounded).
bool matches_pattern(const std::string& pattern, std::string_view text);

}  // namespace meridian::aws
