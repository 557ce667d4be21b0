// SPDX-License-Identifier: Apache-2.0
#include "fleet/template.h"

#include <fmt/format.h>

#include <functional>

#include "base/strings.h"
#include "fleet/table.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::string_view kOpen = "$(";
constexpr std::string_view kRow = "row.";

// Called for the literal parts of a text and for the columns between them.
struct Sink {
  std::function<void(std::string_view)> literal, column;
};

void scan(std::string_view text, const std::string& path, const Sink& sink) {
  while (!text.empty()) {
    const std::size_t open = text.find(kOpen);
    if (open == std::string_view::npos) return sink.literal(text);
    if (open > 0 && text[open - 1] == '$') {  // $$( stays as $(
      sink.literal(text.substr(0, open - 1));
      sink.literal(kOpen);
      text.remove_prefix(open + kOpen.size());
      continue;
    }
    if (open > 0) sink.literal(text.substr(0, open));
    const std::size_t close = text.find(')', open);
    const std::string_view inside = text.substr(
        open + kOpen.size(),
        close == std::string_view::npos ? std::string_view::npos : close - open - kOpen.size());
    if (close == std::string_view::npos || !inside.starts_with(kRow) ||
        inside.size() == kRow.size())
      throw base::Error(
          base::Code::invalid_argument,
          fmt::format("{}: '{}' is not a reference to a column: write $(row.COLUMN), or $$( for a "
                      "$( that is to stay",
                      path, text.substr(open, std::min<std::size_t>(40, text.size() - open))));
    sink.column(inside.substr(kRow.size()));
    text.remove_prefix(close + 1);
  }
}

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

using OnText = std::function<Json(std::string_view text, const std::string& path)>;

Json map_texts(const Json& value, const std::string& path, const OnText& on_text) {
  if (const auto* text = value.if_string()) return on_text(base::view(*text), path);
  if (const JsonArray* list = value.if_array()) {
    JsonArray out;
    for (std::size_t i = 0; i < list->size(); ++i)
      out.push_back(map_texts((*list)[i], fmt::format("{}[{}]", path, i), on_text));
    return out;
  }
  if (const JsonObject* object = value.if_object()) {
    JsonObject out;
    for (const auto& [key, item] : *object) out[key] = map_texts(item, below(path, key), on_text);
    return out;
  }
  return value;
}

const Json& value_of(std::string_view column, const JsonObject& row, const std::string& path) {
  const Json* value = row.if_contains(column);  // null counts
  if (value == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, ignored] : row) names.emplace_back(name);
    const auto meant = base::nearest(column, names);
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("{}: rows have no column '{}'{}; columns are {}", path, column,
                                  meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                  base::join(names, ", ")));
  }
  if (value->is_null())
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("{}: column '{}' is NULL", path, column));
  return *value;
}

Json fill_text(std::string_view text, const std::string& path, const JsonObject& row) {
  std::string out;
  const Json* only = nullptr;
  int parts = 0;
  scan(text, path,
       {.literal =
            [&](std::string_view literal) {
              ++parts;
              out += literal;
            },
        .column =
            [&](std::string_view column) {
              ++parts;
              only = &value_of(column, row, path);
              out += text_of(*only);
            }});
  return parts == 1 && only != nullptr ? *only : Json(out);
}

Json conform_text(Json value) {
  if (value.is_string() || value.is_structured() || value.is_null()) return value;
  return Json(text_of(value));
}

Json conform_number(const aws::Shape& shape, Json value) {
  const auto* text = value.if_string();
  if (text == nullptr) return value;
  if (shape.type != aws::Type::floating) {
    if (const auto whole = base::to_int(base::view(*text))) return *whole;
  } else if (const auto number = base::to_double(base::view(*text))) {
    return *number;
  }
  return value;  // the API's own validation says what is wrong
}

}  // namespace

std::set<std::string> columns_of(const Json& specification) {
  std::set<std::string> columns;
  map_texts(specification, "", [&](std::string_view text, const std::string& path) {
    scan(text, path,
         {.literal = [](std::string_view) {},
          .column = [&](std::string_view column) { columns.emplace(column); }});
    return Json(text);
  });
  return columns;
}

Json fill(const Json& specification, const JsonObject& row) {
  return map_texts(specification, "", [&](std::string_view text, const std::string& path) {
    return fill_text(text, path, row);
  });
}

Json conform(const aws::Shape& shape, Json value) {
  switch (shape.type) {
    case aws::Type::structure:
      if (JsonObject* object = value.if_object()) {
        for (auto& [key, item] : *object) {
          if (const aws::Member* member = shape.find_member(key))
            item = conform(*member->shape, std::move(item));
        }
      }
      return value;
    case aws::Type::list:
      if (JsonArray* list = value.if_array())
        for (Json& item : *list) item = conform(*shape.element.shape, std::move(item));
      return value;
    case aws::Type::map:
      if (JsonObject* object = value.if_object())
        for (auto& [key, item] : *object) item = conform(*shape.element.shape, std::move(item));
      return value;
    case aws::Type::string: return conform_text(std::move(value));
    case aws::Type::integer:
    case aws::Type::long_integer:
    case aws::Type::floating: return conform_number(shape, std::move(value));
    default: return value;
  }
}

}  // namespace meridian::fleet
