// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/value.h"

#include <fmt/format.h>

#include <cmath>

#include "base/strings.h"
#include "kube/cel/duration.h"
#include "kube/cel/instant.h"

namespace meridian::kube::cel {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using std::strong_ordering;

std::string_view text_of(const boost::json::string& s) { return {s.data(), s.size()}; }

// The exact order of two numbers of any two types; nothing with NaN.
std::optional<strong_ordering> order_numbers(const Value& a, const Value& b);

std::optional<strong_ordering> order_doubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nullopt;
  return a < b ? strong_ordering::less : a > b ? strong_ordering::greater : strong_ordering::equal;
}

strong_ordering reversed(strong_ordering order) { return 0 <=> order; }

strong_ordering order_signed_unsigned(std::int64_t a, std::uint64_t b) {
  return a < 0 ? strong_ordering::less : static_cast<std::uint64_t>(a) <=> b;
}

template <class Integer>
std::optional<strong_ordering> order_with_double(Integer a, double b) {
  if (std::isnan(b)) return std::nullopt;
  constexpr double beyond = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  if (b >= beyond) return strong_ordering::less;
  if (b < (std::is_signed_v<Integer> ? -0x1p63 : 0.0)) return strong_ordering::greater;
  const double whole = std::floor(b);
  const strong_ordering compared = a <=> static_cast<Integer>(whole);
  return compared == 0 && b > whole ? strong_ordering::less : compared;
}

std::optional<strong_ordering> order_numbers(const Value& a, const Value& b) {
  return std::visit(
      [](const auto& x, const auto& y) -> std::optional<strong_ordering> {
        using X = std::decay_t<decltype(x)>;
        using Y = std::decay_t<decltype(y)>;
        constexpr bool x_integer =
            std::is_same_v<X, std::int64_t> || std::is_same_v<X, std::uint64_t>;
        constexpr bool y_integer =
            std::is_same_v<Y, std::int64_t> || std::is_same_v<Y, std::uint64_t>;
        if constexpr (x_integer && std::is_same_v<X, Y>) {
          return x <=> y;
        } else if constexpr (std::is_same_v<X, std::int64_t> && y_integer) {
          return order_signed_unsigned(x, y);
        } else if constexpr (x_integer && y_integer) {
          return reversed(order_signed_unsigned(y, x));
        } else if constexpr (std::is_same_v<X, double> && std::is_same_v<Y, double>) {
          return order_doubles(x, y);
        } else if constexpr (x_integer && std::is_same_v<Y, double>) {
          return order_with_double(x, y);
        } else if constexpr (std::is_same_v<X, double> && y_integer) {
          const auto other = order_with_double(y, x);
          return other ? std::optional(reversed(*other)) : std::nullopt;
        } else {
          return std::nullopt;
        }
      },
      a.is, b.is);
}

bool equal_lists(const Value& a, const Value& b, Meter& meter) {
  const std::size_t size = size_of(a);
  if (size != size_of(b)) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (!meter.spend(1) || !equal(item_at(a, i), item_at(b, i), meter)) return false;
  }
  return true;
}

// The member at `index`, whose key key_at tells.
Value member_at(const Value& map, std::size_t index) {
  if (const auto* part = map.as<Part>()) {
    const auto at = (*part)->get_object().begin() + static_cast<std::ptrdiff_t>(index);
    return from_json(at->value());
  }
  return (**map.as<Map>())[index].second;
}

bool equal_maps(const Value& a, const Value& b, Meter& meter) {
  const std::size_t size = size_of(a);
  if (size != size_of(b)) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (!meter.spend(1)) return false;
    const auto other = find_key(b, key_at(a, i), meter);
    if (!other || !equal(member_at(a, i), *other, meter)) return false;
  }
  return true;
}

Json list_json(const Value& list, bool& good) {
  JsonArray out;
  for (std::size_t i = 0; i < size_of(list) && good; ++i) {
    auto item = to_json(item_at(list, i));
    good = item.has_value();
    if (good) out.push_back(std::move(*item));
  }
  return out;
}

Json map_json(const Value& map, bool& good) {
  JsonObject out;
  for (std::size_t i = 0; i < size_of(map) && good; ++i) {
    const Value key = key_at(map, i);
    auto value = to_json(member_at(map, i));
    good = value && key.as<std::string>() != nullptr;
    if (good) out[*key.as<std::string>()] = std::move(*value);
  }
  return out;
}

}  // namespace

Value from_json(const Json& json) {
  switch (json.kind()) {
    case boost::json::kind::null: return {Null{}};
    case boost::json::kind::bool_: return {json.get_bool()};
    case boost::json::kind::int64: return {json.get_int64()};
    case boost::json::kind::uint64: return {json.get_uint64()};
    case boost::json::kind::double_: return {json.get_double()};
    case boost::json::kind::string: return {std::string(text_of(json.get_string()))};
    case boost::json::kind::array:
    case boost::json::kind::object: return {&json};
  }
  std::abort();
}

std::optional<Json> to_json(const Value& value) {
  if (value.failed()) return std::nullopt;
  if (const auto* part = value.as<Part>()) return **part;
  bool good = true;
  Json out;
  if (is_list(value)) {
    out = list_json(value, good);
  } else if (is_map(value)) {
    out = map_json(value, good);
  } else if (const auto* flag = value.as<bool>()) {
    out = *flag;
  } else if (const auto* integer = value.as<std::int64_t>()) {
    out = *integer;
  } else if (const auto* number = value.as<std::uint64_t>()) {
    out = *number;
  } else if (const auto* real = value.as<double>()) {
    out = *real;
  } else if (const auto* text = value.as<std::string>()) {
    out = base::to_valid_utf8(*text);
  } else if (const auto* bytes = value.as<Bytes>()) {
    out = base::base64(bytes->text);
  } else if (const auto* duration = value.as<Duration>()) {
    out = duration_text(std::chrono::nanoseconds(duration->nanoseconds));
  } else if (const auto* instant = value.as<Instant>()) {
    out = instant_text(*instant);
  } else if (const auto* type = value.as<TypeName>()) {
    out = type->name;
  }
  return good ? std::optional(std::move(out)) : std::nullopt;
}

std::string_view type_of(const Value& value) {
  static constexpr std::string_view names[] = {"null_type",
                                               "bool",
                                               "int",
                                               "uint",
                                               "double",
                                               "string",
                                               "bytes",
                                               "google.protobuf.Duration",
                                               "google.protobuf.Timestamp",
                                               "type",
                                               "list",
                                               "map"};
  if (const auto* part = value.as<Part>()) return (*part)->is_array() ? "list" : "map";
  if (value.failed()) return "error";
  return names[value.is.index()];
}

Value fail(std::string message) { return {Failure{std::move(message)}}; }

Value no_overload(std::string_view operation, const Value& a, const Value& b) {
  return fail(fmt::format("no such overload: {} {} {}", type_of(a), operation, type_of(b)));
}

Value no_overload(std::string_view operation, const Value& a) {
  return fail(fmt::format("no such overload: {}({})", operation, type_of(a)));
}

Value make_text(std::string text) { return {std::move(text)}; }
Value make_list(std::vector<Value> items) {
  return {std::make_shared<const std::vector<Value>>(std::move(items))};
}

bool is_list(const Value& value) {
  const auto* part = value.as<Part>();
  return part != nullptr ? (*part)->is_array() : value.as<List>() != nullptr;
}

bool is_map(const Value& value) {
  const auto* part = value.as<Part>();
  return part != nullptr ? (*part)->is_object() : value.as<Map>() != nullptr;
}

std::size_t size_of(const Value& container) {
  if (const auto* part = container.as<Part>()) {
    return (*part)->is_array() ? (*part)->get_array().size() : (*part)->get_object().size();
  }
  if (const auto* list = container.as<List>()) return (*list)->size();
  const auto* map = container.as<Map>();
  return map == nullptr ? 0 : (*map)->size();
}

Value item_at(const Value& list, std::size_t index) {
  if (const auto* part = list.as<Part>()) return from_json((*part)->get_array()[index]);
  return (**list.as<List>())[index];
}

std::optional<Value> find_key(const Value& map, const Value& key, Meter& meter) {
  if (const auto* part = map.as<Part>()) {
    const auto* name = key.as<std::string>();
    const Json* found = name == nullptr ? nullptr : (*part)->get_object().if_contains(*name);
    return found == nullptr ? std::nullopt : std::optional(from_json(*found));
  }
  for (const auto& [mine, value] : **map.as<Map>()) {
    if (!meter.spend(1)) return std::nullopt;
    if (equal(mine, key, meter)) return value;
  }
  return std::nullopt;
}

Value key_at(const Value& map, std::size_t index) {
  if (const auto* part = map.as<Part>()) {
    const auto at = (*part)->get_object().begin() + static_cast<std::ptrdiff_t>(index);
    return make_text(std::string(at->key()));
  }
  return (**map.as<Map>())[index].first;
}

bool equal(const Value& a, const Value& b, Meter& meter) {
  if (a.numeric() && b.numeric()) return order_numbers(a, b) == strong_ordering::equal;
  if (is_list(a) && is_list(b)) return equal_lists(a, b, meter);
  if (is_map(a) && is_map(b)) return equal_maps(a, b, meter);
  if (const auto* text = a.as<std::string>()) meter.spend_on(*text);
  if (a.as<Null>() != nullptr && b.as<Null>() != nullptr) return true;
  if (const auto* type = a.as<TypeName>()) {
    const auto* other = b.as<TypeName>();
    return other != nullptr && type->name == other->name;
  }
  return order(a, b) == strong_ordering::equal;
}

std::optional<strong_ordering> order(const Value& a, const Value& b) {
  if (a.numeric() && b.numeric()) return order_numbers(a, b);
  if (a.is.index() != b.is.index()) return std::nullopt;
  if (const auto* flag = a.as<bool>()) return *flag <=> *b.as<bool>();
  if (const auto* text = a.as<std::string>()) return text->compare(*b.as<std::string>()) <=> 0;
  if (const auto* bytes = a.as<Bytes>()) return bytes->text.compare(b.as<Bytes>()->text) <=> 0;
  if (const auto* duration = a.as<Duration>()) {
    return duration->nanoseconds <=> b.as<Duration>()->nanoseconds;
  }
  if (const auto* instant = a.as<Instant>()) {
    const auto* other = b.as<Instant>();
    return std::pair(instant->seconds, instant->nanoseconds) <=>
           std::pair(other->seconds, other->nanoseconds);
  }
  return std::nullopt;
}

}  // namespace meridian::kube::cel
