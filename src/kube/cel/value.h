// The values of CEL. Errors are values too: they flow through operators until && or || forgives
// one.
//
// Lists and maps of the variables stay where they are: a Value of theirs points into the JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

namespace meridian::kube::cel {

struct Value;

// What is left of an evaluation's budget.
class Meter {
 public:
  explicit Meter(std::uint64_t& left) : left_(left) {}
  // False once the budget does not suffice; it is then empty for good.
  bool spend(std::uint64_t steps) {
    left_ = left_ < steps ? 0 : left_ - steps;
    return left_ > 0;
  }
  bool spend_on(std::string_view text) { return spend(text.size() / 16); }
  bool empty() const { return left_ == 0; }

 private:
  std::uint64_t& left_;
};

struct Null {};
struct Bytes {
  std::string text;
};
struct Duration {
  std::int64_t nanoseconds = 0;
};
struct Instant {  // seconds from 1970 and nanoseconds after them, year 1 to 9999
  std::int64_t seconds = 0;
  std::int32_t nanoseconds = 0;
};
struct TypeName {
  std::string_view name;
};
struct Failure {
  std::string message;
};
using List = std::shared_ptr<const std::vector<Value>>;
using Entries = std::vector<std::pair<Value, Value>>;
using Map = std::shared_ptr<const Entries>;  // no two keys are equal
using Part = const base::Json*;              // an array or object of a variable

struct Value {
  std::variant<Null, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, Duration,
               Instant, TypeName, List, Map, Part, Failure>
      is;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
  bool failed() const { return as<Failure>() != nullptr; }
  bool numeric() const { return is.index() >= 2 && is.index() <= 4; }
};

Value from_json(const base::Json& json);
// Nothing for a failure, and for a map whose keys are no texts.
std::optional<base::Json> to_json(const Value& value);

std::string_view type_of(const Value& value);  // "int", "list", …
Value fail(std::string message);
// "no such overload: int + string".
Value no_overload(std::string_view operation, const Value& a, const Value& b);
Value no_overload(std::string_view operation, const Value& a);
Value make_text(std::string text);
Value make_list(std::vector<Value> items);

// Of lists and maps, in whichever form they are.
bool is_list(const Value& value);
bool is_map(const Value& value);
std::size_t size_of(const Value& container);
Value item_at(const Value& list, std::size_t index);
std::optional<Value> find_key(const Value& map, const Value& key, Meter& meter);
Value key_at(const Value& map, std::size_t index);  // for comprehensions over maps

bool equal(const Value& a, const Value& b, Meter& meter);  // any answer once the meter is empty
// The order of two values; nothing when they have none.
std::optional<std::strong_ordering> order(const Value& a, const Value& b);

}  // namespace meridian::kube::cel
