// SPDX-License-Identifier: Apache-2.0
#include "kube/value.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

template <class T>
int order(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Integers, whose sign and size are told apart before they are compared.
int compare_integers(const Json& a, const Json& b) {
  if (a.is_int64() && b.is_int64()) return order(a.get_int64(), b.get_int64());
  if (a.is_uint64() && b.is_uint64()) return order(a.get_uint64(), b.get_uint64());
  if (a.is_int64()) {
    if (a.get_int64() < 0) return -1;
    return order(static_cast<std::uint64_t>(a.get_int64()), b.get_uint64());
  }
  return -compare_integers(b, a);
}

int compare_integer_with_double(const Json& a, double b) {
  if (b >= 0x1p64) return -1;
  if (b < -0x1p63) return 1;
  const double whole = std::floor(b);
  const Json floor =
      b < 0 ? Json(static_cast<std::int64_t>(whole)) : Json(static_cast<std::uint64_t>(whole));
  const int compared = compare_integers(a, floor);
  return compared == 0 && b > whole ? -1 : compared;
}

bool same_array(const JsonArray& a, const JsonArray& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_value);
}

bool same_object(const JsonObject& a, const JsonObject& b) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    const Json* other = b.if_contains(member.key());
    return other != nullptr && same_value(member.value(), *other);
  });
}

}  // namespace

int compare_numbers(const Json& a, const Json& b) {
  if (a.is_double() && b.is_double()) return order(a.get_double(), b.get_double());
  if (b.is_double()) return compare_integer_with_double(a, b.get_double());
  if (a.is_double()) return -compare_integer_with_double(b, a.get_double());
  return compare_integers(a, b);
}

bool same_value(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  if (a.is_array()) return same_array(a.get_array(), b.get_array());
  if (a.is_object()) return same_object(a.get_object(), b.get_object());
  return a == b;
}

Extent extent_of(const Json& value) {
  Extent out{.bytes = 8, .depth = 0};
  const auto add = [&](const Json& part, std::size_t key) {
    const Extent inner = extent_of(part);
    out.bytes += inner.bytes + key;
    out.depth = std::max(out.depth, inner.depth + 1);
  };
  if (value.is_string()) {
    out.bytes += value.get_string().size();
  } else if (value.is_array()) {
    out.depth = 1;
    for (const Json& item : value.get_array()) add(item, 0);
  } else if (value.is_object()) {
    out.depth = 1;
    for (const auto& member : value.get_object()) add(member.value(), member.key().size() + 4);
  }
  return out;
}

}  // namespace meridian::kube
