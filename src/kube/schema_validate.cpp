// The structural part of validation, with kube-apiserver's messages.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"
#include "kube/cause.h"
#include "kube/schema.h"
#include "kube/schema_node.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using ListType = SchemaNode::ListType;

constexpr std::size_t most_causes = 100;
constexpr std::size_t most_visits = 5'000'000;  // of a node by a value: seconds, not minutes

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool is_multiple(const Json& value, const Json& of) {
  if (value.is_int64() && of.is_int64() && of.get_int64() != 0) {
    return value.get_int64() % of.get_int64() == 0;
  }
  const double quotient = value.to_number<double>() / of.to_number<double>();
  return std::abs(quotient - std::round(quotient)) <= 1e-9 * std::max(1.0, std::abs(quotient));
}

class Validator {
 public:
  explicit Validator(std::size_t& visits) : visits_(visits) {}

  std::vector<Cause> run(const SchemaNode& node, const Json& value, const std::string& path) {
    check(node, value, path);
    return std::move(causes_);
  }

 private:
  void add(Cause cause) {
    if (causes_.size() < most_causes) causes_.push_back(std::move(cause));
  }
  // "PATH in body SAYS".
  void refuse(const std::string& path, const Json& value, std::string_view says) {
    add(invalid_value(path, value, fmt::format("{} in body {}", path, says)));
  }

  void check(const SchemaNode& node, const Json& value, const std::string& path) {
    if (++visits_ > most_visits) {
      if (visits_ == most_visits + 1) add(forbidden(path, "validation takes too many steps"));
      return;
    }
    if (causes_.size() >= most_causes) return;
    if (!has_type(node, value)) return add_type_error(node, value, path);
    if (value.is_null() && node.nullable) return;
    check_values(node, value, path);
    if (value.is_string()) check_string(node, base::view(value.get_string()), path);
    if (value.is_number()) check_number(node, value, path);
    if (value.is_array()) check_array(node, value.get_array(), path);
    if (value.is_object()) check_object(node, value.get_object(), path);
    check_conditions(node, value, path);
  }

  void add_type_error(const SchemaNode& node, const Json& value, const std::string& path) {
    const std::string_view wanted = node.int_or_string ? "integer,string" : name(node.type);
    const std::string_view found = type_name(value);
    add(wrong_type(path, found,
                   fmt::format("{} in body must be of type {}: \"{}\"", path, wanted, found)));
  }

  void check_values(const SchemaNode& node, const Json& value, const std::string& path) {
    if (node.enum_values.empty()) return;
    const auto same = [&](const Json& one) { return same_value(one, value); };
    if (std::any_of(node.enum_values.begin(), node.enum_values.end(), same)) return;
    std::vector<std::string> supported;
    for (const Json& one : node.enum_values) {
      supported.push_back(one.is_string() ? std::string(base::view(one.get_string()))
                                          : base::to_text(one));
    }
    add(not_supported(path, value, supported));
  }

  void check_string(const SchemaNode& node, std::string_view text, const std::string& path) {
    const std::size_t length = node.min_length || node.max_length ? characters(text) : 0;
    if (node.max_length && length > *node.max_length) add(too_long(path, *node.max_length));
    if (node.min_length && length < *node.min_length) {
      refuse(path, Json(text), fmt::format("should be at least {} chars long", *node.min_length));
    }
    if (node.pattern && !node.pattern->finds(text).value_or(false)) {
      refuse(path, Json(text), fmt::format("should match '{}'", node.pattern_text));
    }
    if (!has_format(node.format, text)) {
      refuse(path, Json(text),
             fmt::format("must be of type {}: {}", node.format, base::to_text(Json(text))));
    }
  }

  void check_number(const SchemaNode& node, const Json& value, const std::string& path) {
    if (node.minimum) {
      const int compared = compare_numbers(value, *node.minimum);
      if (compared < 0 || (compared == 0 && node.exclusive_minimum)) {
        refuse(
            path, value,
            fmt::format("should be greater than {}{}", node.exclusive_minimum ? "" : "or equal to ",
                        base::to_text(*node.minimum)));
      }
    }
    if (node.maximum) {
      const int compared = compare_numbers(value, *node.maximum);
      if (compared > 0 || (compared == 0 && node.exclusive_maximum)) {
        refuse(path, value,
               fmt::format("should be less than {}{}", node.exclusive_maximum ? "" : "or equal to ",
                           base::to_text(*node.maximum)));
      }
    }
    if (node.multiple_of && !is_multiple(value, *node.multiple_of)) {
      refuse(path, value,
             fmt::format("should be a multiple of {}", base::to_text(*node.multiple_of)));
    }
  }

  void check_array(const SchemaNode& node, const JsonArray& array, const std::string& path) {
    if (node.max_items && array.size() > *node.max_items) {
      add(too_many(path, array.size(), *node.max_items));
    }
    if (node.min_items && array.size() < *node.min_items) {
      refuse(path, Json(array.size()),
             fmt::format("should have at least {} items", *node.min_items));
    }
    if (!node.items) return;
    for (std::size_t i = 0; i < array.size(); ++i) check(*node.items, array[i], item_path(path, i));
    check_duplicates(node, array, path);
  }

  void check_duplicates(const SchemaNode& node, const JsonArray& array, const std::string& path) {
    if (node.list_type == ListType::atomic) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const Json identity = node.list_type == ListType::set ? array[i] : keys_of(node, array[i]);
      if (!seen.insert(base::to_text(identity, base::JsonStyle::sorted)).second) {
        add(duplicate_value(item_path(path, i), identity));
      }
    }
  }

  static Json keys_of(const SchemaNode& node, const Json& item) {
    JsonObject out;
    for (const std::string& key : node.list_map_keys) {
      if (const Json* value = base::find(item, key)) out[key] = *value;
    }
    return out;
  }

  void check_object(const SchemaNode& node, const JsonObject& object, const std::string& path) {
    if (node.max_properties && object.size() > *node.max_properties) {
      add(too_many(path, object.size(), *node.max_properties));
    }
    if (node.min_properties && object.size() < *node.min_properties) {
      refuse(path, Json(object.size()),
             fmt::format("should have at least {} properties", *node.min_properties));
    }
    for (const std::string& name : node.required) {
      if (!object.contains(name)) add(required_value(member_path(path, name)));
    }
    if (node.embedded_resource) {
      for (const char* name : {"apiVersion", "kind"}) {
        const Json* text = base::find(object, name);
        if (text == nullptr || !text->is_string() || text->get_string().empty()) {
          add(required_value(member_path(path, name), "must not be empty"));
        }
      }
    }
    for (const auto& member : object) {
      if (const SchemaNode* next = node.member(member.key())) {
        check(*next, member.value(), member_path(path, member.key()));
      }
    }
  }

  void check_conditions(const SchemaNode& node, const Json& value, const std::string& path) {
    for (const auto& one : node.all_of) check(*one, value, path);
    if (!node.any_of.empty() && count_valid(node.any_of, value, path) == 0) {
      refuse_condition(path, "must validate at least one schema (anyOf)");
      add_nearest();
    }
    if (!node.one_of.empty()) {
      const std::size_t valid = count_valid(node.one_of, value, path);
      if (valid == 0) {
        refuse_condition(path, "must validate one and only one schema (oneOf). Found none valid");
        add_nearest();
      } else if (valid > 1) {
        refuse_condition(path,
                         fmt::format("must validate one and only one schema (oneOf). Found {} "
                                     "valid alternatives",
                                     valid));
      }
    }
    if (node.none_of && Validator(visits_).run(*node.none_of, value, path).empty()) {
      refuse_condition(path, "must not validate the schema (not)");
    }
  }

  void refuse_condition(const std::string& path, std::string_view says) {
    add(invalid_value(path, Json(""), fmt::format("\"{}\" {}", path, says)));
  }

  // How many of the alternatives accept the value; nearest_ is what the best of the others lacks.
  std::size_t count_valid(const std::vector<SchemaNode::Pointer>& alternatives, const Json& value,
                          const std::string& path) {
    std::size_t valid = 0;
    nearest_.reset();
    for (const auto& one : alternatives) {
      auto causes = Validator(visits_).run(*one, value, path);
      if (causes.empty()) {
        ++valid;
      } else if (!nearest_ || causes.size() < nearest_->size()) {
        nearest_ = std::move(causes);
      }
    }
    return valid;
  }

  void add_nearest() {
    for (Cause& cause : nearest_.value_or(std::vector<Cause>())) add(std::move(cause));
  }

  std::size_t& visits_;
  std::vector<Cause> causes_;
  std::optional<std::vector<Cause>> nearest_;
};

}  // namespace

std::vector<Cause> structural_causes(const SchemaNode& node, const Json& value,
                                     const std::string& path) {
  std::size_t visits = 0;
  return Validator(visits).run(node, value, path);
}

std::vector<Cause> validate(const Schema& schema, const Json& object, const Json* old_object) {
  auto causes = structural_causes(schema.root(), object, "");
  return causes.empty() ? rule_causes(schema.root(), object, old_object, "") : causes;
}

}  // namespace meridian::kube
