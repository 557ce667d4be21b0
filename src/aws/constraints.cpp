// SPDX-License-Identifier: Apache-2.0
#include "aws/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;

constexpr std::size_t max_shown = 256;  // bytes of an offending value

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string bound(double value) {
  const bool whole = std::floor(value) == value && std::abs(value) < 9e15;
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : base::number_text(value);
}

// AWS lists every value, hundreds for instance types. A person wants those of the same family, and
// the one that was meant: 'ml.m5.larg' reads "[ml.m5.large, …, and 219 others] (did you mean
// ml.m5.large?)".
std::string enum_constraint(const std::vector<std::string>& values, std::string_view given) {
  constexpr std::size_t all_up_to = 40, head = 20;
  std::vector<std::string> listed = values;
  if (values.size() > all_up_to) {
    const auto family = given.substr(0, given.rfind('.') == given.npos ? 0 : given.rfind('.') + 1);
    std::erase_if(listed, [&](const auto& value) { return !value.starts_with(family); });
    if (listed.empty()) listed = values;
    if (listed.size() > head) listed.resize(head);
  }
  const std::size_t others = values.size() - listed.size();
  if (others > 0) listed.push_back(fmt::format("and {} others", others));
  const auto meant = given.size() <= 128 ? base::nearest(given, values) : std::nullopt;
  return fmt::format("Member must satisfy enum value set: [{}]{}", base::join(listed, ", "),
                     meant ? " (did you mean " + *meant + "?)" : "");
}

}  // namespace

std::string shown(const Json& value) {
  std::string text;
  if (value.is_string()) {
    text = base::view(value.get_string());
  } else if (value.is_array()) {
    for (const Json& item : value.get_array()) {
      if (text.size() > max_shown) break;
      text += (text.empty() ? "" : ", ") + shown(item);
    }
    text = "[" + text + "]";
  } else {
    text = base::to_text(value);
  }
  if (text.size() <= max_shown) return text;
  const auto head = base::utf8_prefix(text, max_shown);
  return std::string(head) + fmt::format("... ({} more bytes)", text.size() - head.size());
}

std::vector<std::string> broken_constraints(const Shape& shape, const Json& value) {
  std::vector<std::string> out;
  const auto check_size = [&](double size, std::string_view what) {
    if (shape.max && size > *shape.max) {
      out.push_back(
          fmt::format("Member must have {} less than or equal to {}", what, bound(*shape.max)));
    }
    if (shape.min && size < *shape.min) {
      out.push_back(
          fmt::format("Member must have {} greater than or equal to {}", what, bound(*shape.min)));
    }
  };
  switch (shape.type) {
    case Type::string: {
      const auto text = base::view(value.get_string());
      check_size(static_cast<double>(count_characters(text)), "length");
      if (!shape.pattern.empty() && !matches_pattern(shape.pattern, text)) {
        out.push_back("Member must satisfy regular expression pattern: " + shape.pattern);
      }
      if (!shape.values.empty() &&
          std::find(shape.values.begin(), shape.values.end(), text) == shape.values.end()) {
        out.push_back(enum_constraint(shape.values, text));
      }
      break;
    }
    case Type::blob: {
      const auto text = base::view(value.get_string());  // padded base64, checked already
      const auto padding = text.ends_with("==") ? 2u : text.ends_with('=') ? 1u : 0u;
      check_size(static_cast<double>(text.size() / 4 * 3 - padding), "length");
      break;
    }
    case Type::list: check_size(static_cast<double>(value.get_array().size()), "length"); break;
    case Type::map: check_size(static_cast<double>(value.get_object().size()), "length"); break;
    case Type::integer:
    case Type::long_integer:
    case Type::floating: check_size(value.to_number<double>(), "value"); break;
    default: break;
  }
  return out;
}

std::vector<std::string> all_constraints(const Shape& shape) {
  std::vector<std::string> out;
  const std::string_view what =
      shape.type == Type::string || shape.type == Type::blob ? "length" : "value";
  if (shape.max) {
    out.push_back(
        fmt::format("Member must have {} less than or equal to {}", what, bound(*shape.max)));
  }
  if (shape.min) {
    out.push_back(
        fmt::format("Member must have {} greater than or equal to {}", what, bound(*shape.min)));
  }
  if (!shape.pattern.empty()) {
    out.push_back("Member must satisfy regular expression pattern: " + shape.pattern);
  }
  if (!shape.values.empty()) {
    out.push_back(enum_constraint(shape.values, ""));
  }
  return out;
}

}  // namespace meridian::aws
