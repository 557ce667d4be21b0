// SPDX-License-Identifier: Apache-2.0
#include "kube/cause.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::kube {
namespace {

std::string shown(const base::Json& value) {
  constexpr std::size_t most = 256;
  const std::string text = base::to_text(value);
  const std::string_view front = base::utf8_prefix(text, most);
  return front.size() == text.size() ? text : std::string(front) + "…";
}

std::string with_reason(std::string_view what, std::string_view why) {
  return why.empty() ? std::string(what) : fmt::format("{}: {}", what, why);
}

}  // namespace

Cause required_value(std::string field, std::string_view why) {
  return {std::move(field), "FieldValueRequired", with_reason("Required value", why)};
}

Cause invalid_value(std::string field, const base::Json& value, std::string_view why) {
  return {std::move(field), "FieldValueInvalid",
          with_reason("Invalid value: " + shown(value), why)};
}

Cause wrong_type(std::string field, std::string_view type, std::string_view why) {
  return {std::move(field), "FieldValueTypeInvalid",
          with_reason(fmt::format("Invalid value: \"{}\"", type), why)};
}

Cause not_supported(std::string field, const base::Json& value,
                    const std::vector<std::string>& supported) {
  std::vector<std::string> quoted;
  for (const auto& one : supported) quoted.push_back(base::to_text(base::Json(one)));
  std::string hint;
  if (value.is_string() && value.get_string().size() > 2) {  // shorter words are near to all
    if (auto meant = base::nearest(base::view(value.get_string()), supported)) {
      hint = fmt::format("; did you mean {}?", base::to_text(base::Json(*meant)));
    }
  }
  return {std::move(field), "FieldValueNotSupported",
          fmt::format("Unsupported value: {}: supported values: {}{}", shown(value),
                      base::join(quoted, ", "), hint)};
}

Cause forbidden(std::string field, std::string_view why) {
  return {std::move(field), "FieldValueForbidden", with_reason("Forbidden", why)};
}

Cause duplicate_value(std::string field, const base::Json& value) {
  return {std::move(field), "FieldValueDuplicate", "Duplicate value: " + shown(value)};
}

Cause too_long(std::string field, std::size_t most_bytes) {
  return {std::move(field), "FieldValueTooLong",
          fmt::format("Too long: may not be more than {} bytes", most_bytes)};
}

Cause too_many(std::string field, std::size_t count, std::size_t most) {
  return {std::move(field), "FieldValueTooMany",
          fmt::format("Too many: {}: must have at most {} items", count, most)};
}

}  // namespace meridian::kube
