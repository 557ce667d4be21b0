// SPDX-License-Identifier: Apache-2.0
#include "kube/cel/functions.h"
#include "kube/cel/list_search.h"

namespace meridian::kube::cel {
namespace {

using Arguments = std::span<const Value>;

Value is_sorted(Arguments arguments, Meter& meter) {
  const Value& list = arguments[0];
  if (!is_list(list)) return no_overload("isSorted", list);
  for (std::size_t i = 1; i < size_of(list) && meter.spend(1); ++i) {
    const Value before = item_at(list, i - 1);
    const Value after = item_at(list, i);
    const auto compared = order(before, after);
    if (!compared) return no_overload("isSorted", before, after);
    if (*compared > 0) return {false};
  }
  return {true};
}

Value sum(Arguments arguments, Meter& meter) {
  const Value& list = arguments[0];
  if (!is_list(list)) return no_overload("sum", list);
  if (size_of(list) == 0) return {std::int64_t{0}};
  Value out = item_at(list, 0);
  if (!out.numeric() && out.as<Duration>() == nullptr) return no_overload("sum", out);
  for (std::size_t i = 1; i < size_of(list) && meter.spend(1) && !out.failed(); ++i) {
    out = calculate('+', out, item_at(list, i), meter);
  }
  return out;
}

// min and max: the item that stands on the `wanted` side of all others.
template <bool smallest>
Value extreme(Arguments arguments, Meter& meter) {
  const Value& list = arguments[0];
  if (!is_list(list)) return no_overload(smallest ? "min" : "max", list);
  if (size_of(list) == 0) return fail("an empty list has no smallest and no largest item");
  Value out = item_at(list, 0);
  for (std::size_t i = 1; i < size_of(list) && meter.spend(1); ++i) {
    Value next = item_at(list, i);
    const auto compared = order(next, out);
    if (!compared) return no_overload(smallest ? "min" : "max", out, next);
    if (smallest ? *compared < 0 : *compared > 0) out = std::move(next);
  }
  return out;
}

constexpr Function table[] = {
    {"isSorted", Form::method, 1, 1, is_sorted},
    {"sum", Form::method, 1, 1, sum},
    {"min", Form::method, 1, 1, extreme<true>},
    {"max", Form::method, 1, 1, extreme<false>},
};

}  // namespace

std::span<const Function> list_functions() { return table; }

Value first_index(const Value& list, const Value& wanted, Meter& meter) {
  for (std::size_t i = 0; i < size_of(list) && meter.spend(1); ++i) {
    if (equal(item_at(list, i), wanted, meter)) return {static_cast<std::int64_t>(i)};
  }
  return {std::int64_t{-1}};
}

Value last_index(const Value& list, const Value& wanted, Meter& meter) {
  for (std::size_t i = size_of(list); i-- > 0 && meter.spend(1);) {
    if (equal(item_at(list, i), wanted, meter)) return {static_cast<std::int64_t>(i)};
  }
  return {std::int64_t{-1}};
}

}  // namespace meridian::kube::cel
