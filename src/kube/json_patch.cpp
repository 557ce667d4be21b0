// JSON Patch: the six operations on a copy of the target, with what they move counted.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "kube/patch.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t most_operations = 10'000;
constexpr std::size_t deepest = 64;
constexpr std::size_t most_work = 16u << 20;  // bytes added, copied and moved; elements shifted

// Why an operation failed; ends at apply_json_patch.
struct Failure {
  std::string message;
};

using Tokens = std::vector<std::string>;

// RFC 6901.
Tokens parse_pointer(std::string_view text) {
  Tokens out;
  if (text.empty()) return out;
  if (text.front() != '/') throw Failure{fmt::format("\"{}\" does not start with '/'", text)};
  for (const std::string& raw : base::split(text.substr(1), '/')) {
    std::string token;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const bool escape = raw[i] == '~';
      if (escape && (++i == raw.size() || (raw[i] != '0' && raw[i] != '1'))) {
        throw Failure{fmt::format("\"{}\" has a '~' that is neither ~0 nor ~1", text)};
      }
      token += !escape ? raw[i] : raw[i] == '0' ? '~' : '/';
    }
    out.push_back(std::move(token));
  }
  if (out.size() > deepest) throw Failure{fmt::format("\"{}\" is too deep", text)};
  return out;
}

class Document {
 public:
  explicit Document(Json root) : root_(std::move(root)) {}
  Json release() { return std::move(root_); }

  const Json& get(const std::string& path) { return *resolve(parse_pointer(path), path); }

  void add(const std::string& path, Json value) {
    Tokens tokens = parse_pointer(path);
    const Extent extent = extent_of(value);
    spend(extent.bytes);
    if (tokens.size() + extent.depth > deepest) throw Failure{"the result is too deep"};
    if (tokens.empty()) {
      root_ = std::move(value);
      return;
    }
    const std::string last = take_last(tokens);
    Json& parent = *resolve(tokens, path);
    if (parent.is_object()) {
      parent.get_object()[last] = std::move(value);
      return;
    }
    JsonArray& array = array_of(parent, path);
    const std::size_t at = last == "-" ? array.size() : index(last, array.size() + 1, path);
    spend(array.size() - at);
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(at), std::move(value));
  }

  Json remove(const std::string& path) {
    Tokens tokens = parse_pointer(path);
    if (tokens.empty()) return std::exchange(root_, Json());
    const std::string last = take_last(tokens);
    Json& parent = *resolve(tokens, path);
    if (parent.is_object()) {
      JsonObject& object = parent.get_object();
      const auto found = object.find(last);
      if (found == object.end()) throw missing(path);
      spend(object.size());
      Json out = std::move(found->value());
      object.stable_erase(found);
      return out;
    }
    JsonArray& array = array_of(parent, path);
    const std::size_t at = index(last, array.size(), path);
    spend(array.size() - at);
    Json out = std::move(array[at]);
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(at));
    return out;
  }

  void replace(const std::string& path, Json value) {
    const Tokens tokens = parse_pointer(path);
    const Extent extent = extent_of(value);
    spend(extent.bytes);
    if (tokens.size() + extent.depth > deepest) throw Failure{"the result is too deep"};
    *resolve(tokens, path) = std::move(value);
  }

 private:
  static Failure missing(const std::string& path) {
    return Failure{fmt::format("there is no {}", path)};
  }
  static std::string take_last(Tokens& tokens) {
    std::string last = std::move(tokens.back());
    tokens.pop_back();
    return last;
  }
  static JsonArray& array_of(Json& parent, const std::string& path) {
    if (!parent.is_array()) throw missing(path);
    return parent.get_array();
  }
  // Digits without a leading zero, below `bound`.
  static std::size_t index(const std::string& token, std::size_t bound, const std::string& path) {
    const bool padded = token.size() > 1 && token.front() == '0';
    const auto number = base::to_uint(token);
    if (!number || padded) throw Failure{fmt::format("{}: '{}' is no index", path, token)};
    if (*number >= bound) throw missing(path);
    return static_cast<std::size_t>(*number);
  }

  Json* resolve(const Tokens& tokens, const std::string& path) {
    Json* at = &root_;
    for (const std::string& token : tokens) {
      if (at->is_object()) {
        at = at->get_object().if_contains(token);
        if (at == nullptr) throw missing(path);
      } else {
        JsonArray& array = array_of(*at, path);
        at = &array[index(token, array.size(), path)];
      }
    }
    return at;
  }

  void spend(std::size_t work) {
    work_ += work;
    if (work_ > most_work) throw Failure{"the patch moves too much"};
  }

  Json root_;
  std::size_t work_ = 0;
};

std::string required(const Json& operation, std::string_view member) {
  auto text = base::find_string(operation, member);
  if (!text) throw Failure{fmt::format("'{}' must be a string", member)};
  return std::move(*text);
}

const Json& value_of(const Json& operation) {
  const Json* value = operation.get_object().if_contains("value");
  if (value == nullptr) throw Failure{"there is no 'value'"};
  return *value;
}

void run(Document& document, const Json& operation) {
  if (!operation.is_object()) throw Failure{"an operation is an object"};
  const std::string op = required(operation, "op");
  const std::string path = required(operation, "path");
  if (op == "add") {
    document.add(path, value_of(operation));
  } else if (op == "remove") {
    document.remove(path);
  } else if (op == "replace") {
    document.replace(path, value_of(operation));
  } else if (op == "move") {
    const std::string from = required(operation, "from");
    if (path.starts_with(from + "/")) throw Failure{fmt::format("{} is inside {}", path, from)};
    document.add(path, document.remove(from));
  } else if (op == "copy") {
    Json copy = document.get(required(operation, "from"));
    document.add(path, std::move(copy));
  } else if (op == "test") {
    if (!same_value(document.get(path), value_of(operation))) {
      throw Failure{fmt::format("test failed at {}", path)};
    }
  } else {
    throw Failure{fmt::format("'{}' is none of add, remove, replace, move, copy, test", op)};
  }
}

}  // namespace

base::Result<Json, std::string> apply_json_patch(const Json& target, const Json& patch) {
  if (!patch.is_array()) return std::string("a JSON patch is a list of operations");
  const JsonArray& operations = patch.get_array();
  if (operations.size() > most_operations) {
    return fmt::format("{} operations, at most {} are allowed", operations.size(), most_operations);
  }
  Document document(target);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    try {
      run(document, operations[i]);
    } catch (const Failure& failure) {
      return fmt::format("operation {}: {}", i, failure.message);
    }
  }
  return document.release();
}

}  // namespace meridian::kube
