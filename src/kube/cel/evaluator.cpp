// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/evaluator.h"

#include <fmt/format.h>

#include <cmath>

#include "base/strings.h"
#include "kube/cel/reads.h"

namespace meridian::kube::cel {
namespace {

using Kind = Node::Kind;

std::optional<Value> find_member(const Value& map, const std::string& name, Meter& meter) {
  if (auto found = find_key(map, make_text(name), meter)) return found;
  if (name.find("__") == std::string::npos) return std::nullopt;
  return find_key(map, make_text(unescaped(name)), meter);
}

// The place in a list that a number of any type names.
std::optional<std::int64_t> index_of(const Value& key) {
  if (const auto* integer = key.as<std::int64_t>()) return *integer;
  if (const auto* integer = key.as<std::uint64_t>()) {
    return *integer <= INT64_MAX ? std::optional(static_cast<std::int64_t>(*integer))
                                 : std::nullopt;
  }
  const auto* number = key.as<double>();
  const bool whole =
      number != nullptr && std::trunc(*number) == *number && std::abs(*number) < 0x1p53;
  return whole ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::string shown(const Value& key) {
  if (const auto* text = key.as<std::string>()) return *text;
  const auto json = to_json(key);
  return json ? base::to_text(*json) : std::string(type_of(key));
}

}  // namespace

Value Evaluator::run(const Node& node) {
  if (!meter_.spend(1)) return fail("evaluation takes too many steps");
  Value out = run_kind(node);
  if (const auto* text = out.as<std::string>()) meter_.spend_on(*text);
  return out;
}

Value Evaluator::run_kind(const Node& node) {
  switch (node.kind) {
    case Kind::literal: return node.literal;
    case Kind::variable: return variable(node);
    case Kind::select:
    case Kind::has: return member(node);
    case Kind::index: return indexed(node);
    case Kind::call: return call(node);
    case Kind::list: return list(node);
    case Kind::map: return map(node);
    case Kind::conditional: return conditional(node);
    case Kind::both: return joined(node, false);
    case Kind::either: return joined(node, true);
    case Kind::chain: return chain(node);
    case Kind::relation: return relation(node);
    case Kind::logical_not: return logical_not(node);
    case Kind::negation: {
      const Value value = run(*node.parts[0]);
      return value.failed() ? value : negate(value);
    }
    case Kind::comprehension: return comprehension(node);
  }
  std::abort();
}

Value Evaluator::variable(const Node& node) const {
  for (auto bound = scope_.rbegin(); bound != scope_.rend(); ++bound) {
    if (bound->first == node.name) return bound->second;
  }
  const auto found = variables_.find(node.name);
  if (found == variables_.end()) return fail(fmt::format("no such variable: {}", node.name));
  return found->second == nullptr ? Value{Null{}} : from_json(*found->second);
}

Value Evaluator::member(const Node& node) {
  const Value of = run(*node.parts[0]);
  if (of.failed()) return of;
  if (!is_map(of)) return fail(fmt::format("no such overload: {}.{}", type_of(of), node.name));
  auto found = find_member(of, node.name, meter_);
  if (node.kind == Kind::has) return {found.has_value()};
  return found ? std::move(*found) : fail(fmt::format("no such key: {}", node.name));
}

Value Evaluator::indexed(const Node& node) {
  const Value of = run(*node.parts[0]);
  if (of.failed()) return of;
  const Value key = run(*node.parts[1]);
  if (key.failed()) return key;
  if (is_map(of)) {
    auto found = find_key(of, key, meter_);
    return found ? std::move(*found) : fail(fmt::format("no such key: {}", shown(key)));
  }
  const auto index = index_of(key);
  if (!is_list(of) || !index) return no_overload("[]", of, key);
  if (*index < 0 || static_cast<std::size_t>(*index) >= size_of(of)) {
    return fail(fmt::format("index out of bounds: {}", *index));
  }
  return item_at(of, static_cast<std::size_t>(*index));
}

Value Evaluator::call(const Node& node) {
  std::vector<Value> arguments;
  arguments.reserve(node.parts.size());
  for (const auto& part : node.parts) {
    arguments.push_back(run(*part));
    if (arguments.back().failed()) return arguments.back();
  }
  if (node.regex) {
    const auto* text = arguments[0].as<std::string>();
    if (text == nullptr) return no_overload("matches", arguments[0]);
    meter_.spend(text->size());
    const auto found = node.regex->finds(*text);
    return found ? Value{*found} : fail("the pattern takes too long");
  }
  return node.function->run(arguments, meter_);
}

Value Evaluator::list(const Node& node) {
  std::vector<Value> out;
  out.reserve(node.parts.size());
  for (const auto& part : node.parts) {
    out.push_back(run(*part));
    if (out.back().failed()) return out.back();
  }
  return make_list(std::move(out));
}

Value Evaluator::map(const Node& node) {
  Entries out;
  for (std::size_t i = 0; i < node.parts.size(); i += 2) {
    Value key = run(*node.parts[i]);
    if (key.failed()) return key;
    const bool fit = key.as<std::string>() != nullptr || key.as<bool>() != nullptr ||
                     key.as<std::int64_t>() != nullptr || key.as<std::uint64_t>() != nullptr;
    if (!fit) return fail(fmt::format("unsupported key type: {}", type_of(key)));
    Value value = run(*node.parts[i + 1]);
    if (value.failed()) return value;
    for (const auto& entry : out) {
      if (equal(entry.first, key, meter_)) return fail(fmt::format("repeated key: {}", shown(key)));
    }
    out.emplace_back(std::move(key), std::move(value));
  }
  return {std::make_shared<const Entries>(std::move(out))};
}

Value Evaluator::conditional(const Node& node) {
  const Value condition = run(*node.parts[0]);
  if (condition.failed()) return condition;
  const auto* flag = condition.as<bool>();
  if (flag == nullptr) return no_overload("?:", condition);
  return run(*node.parts[*flag ? 1 : 2]);
}

// && and ||: whichever part is `decisive` decides, whatever failed beside it.
Value Evaluator::joined(const Node& node, bool decisive) {
  std::optional<Value> failure;
  for (const auto& part : node.parts) {
    Value value = run(*part);
    const auto* flag = value.as<bool>();
    if (flag != nullptr && *flag == decisive) return value;
    if (flag == nullptr && !failure) {
      failure = value.failed() ? std::move(value) : no_overload(decisive ? "||" : "&&", value);
    }
  }
  return failure ? std::move(*failure) : Value{!decisive};
}

Value Evaluator::chain(const Node& node) {
  Value out = run(*node.parts[0]);
  for (std::size_t i = 1; i < node.parts.size() && !out.failed(); ++i) {
    const Value next = run(*node.parts[i]);
    if (next.failed()) return next;
    out = calculate(node.operators[i - 1], out, next, meter_);
  }
  return out;
}

Value Evaluator::relation(const Node& node) {
  const Value a = run(*node.parts[0]);
  if (a.failed()) return a;
  const Value b = run(*node.parts[1]);
  if (b.failed()) return b;
  if (node.name == "==") return {equal(a, b, meter_)};
  if (node.name == "!=") return {!equal(a, b, meter_)};
  if (node.name == "in") {
    if (is_map(b)) return {find_key(b, a, meter_).has_value()};
    if (!is_list(b)) return no_overload("in", a, b);
    for (std::size_t i = 0; i < size_of(b) && meter_.spend(1); ++i) {
      if (equal(a, item_at(b, i), meter_)) return {true};
    }
    return {false};
  }
  const auto compared = order(a, b);
  const bool numbers = a.numeric() && b.numeric();
  if (!compared && !numbers) return no_overload(node.name, a, b);
  if (!compared) return {false};  // NaN
  if (node.name == "<") return {*compared < 0};
  if (node.name == "<=") return {*compared <= 0};
  return {node.name == ">" ? *compared > 0 : *compared >= 0};
}

Value Evaluator::logical_not(const Node& node) {
  const Value value = run(*node.parts[0]);
  if (value.failed()) return value;
  const auto* flag = value.as<bool>();
  return flag == nullptr ? no_overload("!", value) : Value{!*flag};
}

Value Evaluator::body(const Node& node, std::size_t part, const Value& item) {
  scope_.emplace_back(node.variable, item);
  Value out = run(*node.parts[part]);
  scope_.pop_back();
  return out;
}

Value Evaluator::comprehension(const Node& node) {
  const Value range = run(*node.parts[0]);
  if (range.failed()) return range;
  if (!is_list(range) && !is_map(range)) return no_overload(node.name, range);
  if (node.name == "all") return quantified(node, range, false);
  if (node.name == "exists") return quantified(node, range, true);
  return node.name == "exists_one" ? counted(node, range) : collected(node, range);
}

namespace {
Value element(const Value& range, std::size_t index) {
  return is_list(range) ? item_at(range, index) : key_at(range, index);
}
}  // namespace

Value Evaluator::quantified(const Node& node, const Value& range, bool decisive) {
  std::optional<Value> failure;
  for (std::size_t i = 0; i < size_of(range) && meter_.spend(1); ++i) {
    Value value = body(node, 1, element(range, i));
    const auto* flag = value.as<bool>();
    if (flag != nullptr && *flag == decisive) return value;
    if (flag == nullptr && !failure) {
      failure = value.failed() ? std::move(value) : no_overload(node.name, value);
    }
  }
  return failure ? std::move(*failure) : Value{!decisive};
}

Value Evaluator::counted(const Node& node, const Value& range) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < size_of(range) && meter_.spend(1); ++i) {
    const Value value = body(node, 1, element(range, i));
    if (value.failed()) return value;
    const auto* flag = value.as<bool>();
    if (flag == nullptr) return no_overload(node.name, value);
    count += *flag ? 1 : 0;
  }
  return {count == 1};
}

// map(x, t), map(x, p, t) and filter(x, p).
Value Evaluator::collected(const Node& node, const Value& range) {
  const bool filters = node.name == "filter" || node.parts.size() == 3;
  std::vector<Value> out;
  for (std::size_t i = 0; i < size_of(range) && meter_.spend(1); ++i) {
    Value item = element(range, i);
    if (filters) {
      const Value wanted = body(node, 1, item);
      if (wanted.failed()) return wanted;
      const auto* flag = wanted.as<bool>();
      if (flag == nullptr) return no_overload(node.name, wanted);
      if (!*flag) continue;
    }
    if (node.name == "map") item = body(node, node.parts.size() - 1, item);
    if (item.failed()) return item;
    out.push_back(std::move(item));
  }
  return make_list(std::move(out));
}

}  // namespace meridian::kube::cel
