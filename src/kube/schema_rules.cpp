// The CEL rules of a schema.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kube/cause.h"
#include "kube/schema_node.h"
#include "kube/value.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonObject;
using Type = SchemaNode::Type;
using ListType = SchemaNode::ListType;

constexpr std::size_t most_causes = 100;

// Members that every object has, whether its schema says so or not.
bool is_of_every_object(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

// The first of these members, one below the other, that nothing can have; "" when all may be there.
std::string undeclared(const SchemaNode& node, const std::vector<std::string>& names) {
  const SchemaNode* at = &node;
  for (const std::string& name : names) {
    const bool closed = at->type == Type::object && !at->properties.empty() && !at->additional &&
                        !at->additional_open && !at->preserve_unknown && !at->embedded_resource;
    if (!closed) return "";
    const auto next = at->properties.find(name);
    if (next == at->properties.end()) return is_of_every_object(name) ? "" : name;
    at = next->second.get();
  }
  return "";
}

base::Result<CelProgram, Cause> compile(const SchemaNode& node, const std::string& text,
                                        const std::string& field) {
  auto program = compile_cel(text);
  if (!program) {
    return invalid_value(field, Json(text), "compilation failed: " + program.error().text());
  }
  for (const std::string& variable : program->variables()) {
    if (variable == "self" || variable == "oldSelf") continue;
    return invalid_value(
        field, Json(text),
        fmt::format("compilation failed: '{}' is neither self nor oldSelf", variable));
  }
  for (const char* variable : {"self", "oldSelf"}) {
    for (const auto& names : program->reads_of(variable)) {
      const std::string name = undeclared(node, names);
      if (!name.empty())
        return invalid_value(field, Json(text),
                             fmt::format("compilation failed: undefined field '{}'", name));
    }
  }
  return std::move(*program);
}

// The value with its numbers typed as the schema says: 1 is a double where a number is expected.
Json typed(const SchemaNode& node, const Json& value) {
  if (node.type == Type::number && value.is_number()) return value.to_number<double>();
  if (node.type == Type::integer && value.is_double() && std::abs(value.get_double()) < 0x1p63) {
    return static_cast<std::int64_t>(value.get_double());
  }
  if (value.is_array() && node.items) {
    base::JsonArray out;
    for (const Json& item : value.get_array()) out.push_back(typed(*node.items, item));
    return out;
  }
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& member : value.get_object()) {
    const SchemaNode* next = node.member(member.key());
    out[member.key()] = next == nullptr ? member.value() : typed(*next, member.value());
  }
  return out;
}

class Run {
 public:
  explicit Run(CelBudget budget) : budget_(budget) {}

  std::vector<Cause> run(const SchemaNode& node, const Json& value, const Json* old,
                         const std::string& path) {
    check(node, value, old, path);
    return std::move(causes_);
  }

 private:
  void check(const SchemaNode& node, const Json& value, const Json* old, const std::string& path) {
    if (!node.rules_below || causes_.size() >= most_causes || value.is_null()) return;
    for (const SchemaRule& rule : node.rules) apply(rule, value, old, path);
    if (value.is_object()) check_members(node, value.get_object(), old, path);
    if (value.is_array()) check_items(node, value.get_array(), old, path);
  }

  void check_members(const SchemaNode& node, const JsonObject& object, const Json* old,
                     const std::string& path) {
    for (const auto& member : object) {
      const SchemaNode* next = node.member(member.key());
      if (next == nullptr || !next->rules_below) continue;
      const Json* before = old == nullptr ? nullptr : base::find(*old, member.key());
      check(*next, member.value(), before, member_path(path, member.key()));
    }
  }

  // Only items of a list of type map are known to be the same as before.
  void check_items(const SchemaNode& node, const base::JsonArray& array, const Json* old,
                   const std::string& path) {
    if (!node.items || !node.items->rules_below) return;
    for (std::size_t i = 0; i < array.size(); ++i) {
      check(*node.items, array[i], find_counterpart(node, array[i], old), item_path(path, i));
    }
  }

  static const Json* find_counterpart(const SchemaNode& node, const Json& item, const Json* old) {
    if (node.list_type != ListType::map || old == nullptr || !old->is_array()) return nullptr;
    for (const Json& one : old->get_array()) {
      const bool same = std::all_of(
          node.list_map_keys.begin(), node.list_map_keys.end(), [&](const std::string& key) {
            const Json* mine = base::find(item, key);
            const Json* theirs = base::find(one, key);
            return mine != nullptr && theirs != nullptr && same_value(*mine, *theirs);
          });
      if (same) return &one;
    }
    return nullptr;
  }

  void apply(const SchemaRule& rule, const Json& value, const Json* old, const std::string& path) {
    if (old == nullptr && rule.program.uses("oldSelf")) return;  // nothing to compare with
    const CelProgram::Variables variables{{"self", &value}, {"oldSelf", old}};
    const auto verdict = rule.program.test(variables, &budget_);
    if (verdict && *verdict) return;
    const std::string field =
        path +
        (path.empty() && !rule.field_path.empty() ? rule.field_path.substr(1) : rule.field_path);
    if (!verdict) {
      add(wrong_type(field, type_name(value),
                     fmt::format("rule '{}' cannot be evaluated: {}", rule.text, verdict.error())),
          "FieldValueInvalid");
      return;
    }
    const std::string message = message_of(rule, variables);
    if (rule.reason == "FieldValueRequired") {
      add(required_value(field, message), rule.reason);
    } else if (rule.reason == "FieldValueForbidden") {
      add(forbidden(field, message), rule.reason);
    } else if (rule.reason == "FieldValueDuplicate") {
      add(duplicate_value(field, Json(type_name(value))), rule.reason);
    } else {
      add(wrong_type(field, type_name(value), message), "FieldValueInvalid");
    }
  }

  std::string message_of(const SchemaRule& rule, const CelProgram::Variables& variables) {
    if (rule.message_expression) {
      const auto made = rule.message_expression->evaluate(variables, &budget_);
      if (made && made->is_string()) {
        std::string text(base::view(made->get_string()));
        if (!text.empty() && text.find('\n') == std::string::npos) return text;
      }
    }
    return rule.message.empty() ? "failed rule: " + rule.text : rule.message;
  }

  void add(Cause cause, const std::string& reason) {
    cause.reason = reason;
    causes_.push_back(std::move(cause));
  }

  CelBudget budget_;
  std::vector<Cause> causes_;
};

}  // namespace

base::Result<SchemaRule, Cause> parse_schema_rule(const SchemaNode& node, const Json& rule,
                                                  const std::string& field) {
  const std::string text = base::string_or(rule, "rule");
  if (text.empty()) return required_value(field + ".rule");
  if (base::bool_or(rule, "optionalOldSelf", false)) {
    return forbidden(field + ".optionalOldSelf", "not supported");
  }
  auto program = compile(node, text, field + ".rule");
  if (!program) return program.error();
  SchemaRule out{.program = std::move(*program),
                 .text = text,
                 .message = base::string_or(rule, "message"),
                 .reason = base::string_or(rule, "reason", "FieldValueInvalid"),
                 .field_path = base::string_or(rule, "fieldPath")};
  static const std::vector<std::string> reasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                                   "FieldValueInvalid", "FieldValueRequired"};
  if (std::find(reasons.begin(), reasons.end(), out.reason) == reasons.end()) {
    return not_supported(field + ".reason", Json(out.reason), reasons);
  }
  if (!out.field_path.empty() && out.field_path.front() != '.') {
    return invalid_value(field + ".fieldPath", Json(out.field_path), "must start with a '.'");
  }
  const std::string expression = base::string_or(rule, "messageExpression");
  if (expression.empty()) return out;
  auto compiled = compile(node, expression, field + ".messageExpression");
  if (!compiled) return compiled.error();
  out.message_expression = std::move(*compiled);
  return out;
}

std::vector<Cause> rule_causes(const SchemaNode& node, const Json& value, const Json* old,
                               const std::string& path, CelBudget budget) {
  if (!node.rules_below) return {};
  const Json now = typed(node, value);
  const Json then = old == nullptr ? Json() : typed(node, *old);
  return Run(budget).run(node, now, old == nullptr ? nullptr : &then, path);
}

}  // namespace meridian::kube
