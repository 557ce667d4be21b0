// Arithmetic: exact or an error, and never between different types of numbers.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kube/cel/functions.h"
#include "kube/cel/instant.h"

namespace meridian::kube::cel {
namespace {

Value overflow() { return fail("integer overflow"); }

template <class Integer>
Value calculate_integers(char symbol, Integer a, Integer b) {
  Integer out = 0;
  switch (symbol) {
    case '+': return __builtin_add_overflow(a, b, &out) ? overflow() : Value{out};
    case '-': return __builtin_sub_overflow(a, b, &out) ? overflow() : Value{out};
    case '*': return __builtin_mul_overflow(a, b, &out) ? overflow() : Value{out};
    default: break;
  }
  if (b == 0) return fail(symbol == '/' ? "division by zero" : "modulus by zero");
  if constexpr (std::is_signed_v<Integer>) {
    if (a == std::numeric_limits<Integer>::min() && b == -1) return overflow();
  }
  return {symbol == '/' ? static_cast<Integer>(a / b) : static_cast<Integer>(a % b)};
}

Value calculate_doubles(char symbol, const Value& left, const Value& right) {
  const double a = *left.as<double>();
  const double b = *right.as<double>();
  switch (symbol) {
    case '+': return {a + b};
    case '-': return {a - b};
    case '*': return {a * b};
    case '/': return {a / b};
    default: return no_overload("%", left, right);
  }
}

Value concatenate_lists(const Value& a, const Value& b, Meter& meter) {
  std::vector<Value> out;
  if (!meter.spend(size_of(a) + size_of(b))) return fail("");
  out.reserve(size_of(a) + size_of(b));
  for (const Value* list : {&a, &b}) {
    for (std::size_t i = 0; i < size_of(*list); ++i) out.push_back(item_at(*list, i));
  }
  return make_list(std::move(out));
}

Value to_value(std::optional<Instant> instant) {
  return instant ? Value{*instant} : fail("timestamp overflow");
}

// What durations and timestamps do with each other; nothing for other operands.
std::optional<Value> calculate_times(char symbol, const Value& a, const Value& b) {
  const auto* duration = b.as<Duration>();
  const std::int64_t step = duration == nullptr ? 0 : duration->nanoseconds;
  const bool minimum = step == std::numeric_limits<std::int64_t>::min();
  if (const auto* instant = a.as<Instant>()) {
    const auto* other = b.as<Instant>();
    if (symbol == '-' && other != nullptr) {
      const auto between = minus(*instant, *other);
      return between ? Value{Duration{*between}} : fail("duration overflow");
    }
    if (duration == nullptr || (symbol != '+' && symbol != '-')) return std::nullopt;
    if (symbol == '-' && minimum) return fail("duration overflow");
    return to_value(plus(*instant, symbol == '+' ? step : -step));
  }
  const auto* mine = a.as<Duration>();
  if (mine == nullptr || (symbol != '+' && symbol != '-')) return std::nullopt;
  if (const auto* instant = b.as<Instant>(); instant != nullptr && symbol == '+') {
    return to_value(plus(*instant, mine->nanoseconds));
  }
  if (duration == nullptr) return std::nullopt;
  Value out = calculate_integers(symbol, mine->nanoseconds, step);
  if (out.failed()) return fail("duration overflow");
  return Value{Duration{*out.as<std::int64_t>()}};
}

}  // namespace

Value calculate(char symbol, const Value& a, const Value& b, Meter& meter) {
  const std::string_view name(&symbol, 1);
  if (auto time = calculate_times(symbol, a, b)) return std::move(*time);
  if (symbol == '+' && is_list(a) && is_list(b)) return concatenate_lists(a, b, meter);
  if (a.is.index() != b.is.index()) return no_overload(name, a, b);
  if (const auto* integer = a.as<std::int64_t>()) {
    return calculate_integers(symbol, *integer, *b.as<std::int64_t>());
  }
  if (const auto* integer = a.as<std::uint64_t>()) {
    return calculate_integers(symbol, *integer, *b.as<std::uint64_t>());
  }
  if (a.as<double>() != nullptr) return calculate_doubles(symbol, a, b);
  if (symbol != '+') return no_overload(name, a, b);
  if (const auto* text = a.as<std::string>()) {
    const auto& other = *b.as<std::string>();
    if (!meter.spend_on(*text) || !meter.spend_on(other)) return fail("");
    return make_text(*text + other);
  }
  if (const auto* bytes = a.as<Bytes>()) {
    const auto& other = b.as<Bytes>()->text;
    if (!meter.spend_on(bytes->text) || !meter.spend_on(other)) return fail("");
    return {Bytes{bytes->text + other}};
  }
  return no_overload(name, a, b);
}

Value negate(const Value& value) {
  if (const auto* number = value.as<double>()) return {-*number};
  if (const auto* integer = value.as<std::int64_t>()) {
    return calculate_integers<std::int64_t>('-', 0, *integer);
  }
  if (const auto* duration = value.as<Duration>()) {
    Value out = calculate_integers<std::int64_t>('-', 0, duration->nanoseconds);
    return out.failed() ? out : Value{Duration{*out.as<std::int64_t>()}};
  }
  return no_overload("-", value);
}

}  // namespace meridian::kube::cel
