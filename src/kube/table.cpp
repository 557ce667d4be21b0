// Tables: the columns of a resource filled for each object.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "kube/json_path.h"
#include "kube/resource.h"

namespace meridian::kube {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// A column ready to be read from many objects.
struct Reader {
  const PrinterColumn* column;
  std::optional<JsonPath> path;
};

std::vector<PrinterColumn> columns_of(const Resource& resource) {
  if (!resource.columns.empty()) return resource.columns;
  return {{.name = "Age",
           .type = "date",
           .description = "Time since the object was created.",
           .json_path = ".metadata.creationTimestamp"}};
}

Json definition(const PrinterColumn& column) {
  return JsonObject{{"name", column.name},
                    {"type", column.type},
                    {"format", column.format},
                    {"description", column.description},
                    {"priority", column.priority}};
}

Json definitions(const std::vector<PrinterColumn>& columns) {
  JsonArray out;
  out.push_back(definition({.name = "Name",
                            .type = "string",
                            .format = "name",
                            .description = "Unique among the objects of its kind and namespace."}));
  for (const auto& column : columns) out.push_back(definition(column));
  return out;
}

Json age_cell(const Json& value, base::Timestamp now) {
  if (!value.is_string()) return nullptr;
  const auto time = parse_time(base::view(value.get_string()));
  return time ? Json(human_duration(now - *time)) : Json("<invalid>");
}

// What a value shows in a column of this type; null when it is of another one.
Json cell_of(const std::string& type, const Json& value, base::Timestamp now) {
  if (value.is_null()) return nullptr;
  if (type == "date") return age_cell(value, now);
  if (type == "boolean") return value.is_bool() ? value : Json();
  if (type == "number") return value.is_number() ? value : Json();
  if (type == "integer") {
    if (!value.is_double()) return value.is_number() ? value : Json();
    const double number = std::trunc(value.get_double());
    return std::abs(number) < 0x1p63 ? Json(static_cast<std::int64_t>(number)) : Json();
  }
  return value.is_string() ? value : Json(base::to_text(value));
}

Json cell_of(const Reader& reader, const Json& object, base::Timestamp now) {
  if (reader.column->cell) return cell_of(reader.column->type, reader.column->cell(object), now);
  const Json* value = reader.path ? reader.path->find(object) : nullptr;
  return value == nullptr ? Json() : cell_of(reader.column->type, *value, now);
}

Json row_object_of(const Json& object, RowObject row_object) {
  if (row_object == RowObject::full) return object;
  JsonObject out{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
  const Json* metadata = base::find(object, "metadata");
  out["metadata"] = metadata == nullptr ? Json(JsonObject()) : *metadata;
  return out;
}

}  // namespace

Json make_table(const Resource& resource, const std::vector<Json>& objects, base::Timestamp now,
                RowObject row_object) {
  const std::vector<PrinterColumn> columns = columns_of(resource);
  std::vector<Reader> readers;
  for (const auto& column : columns) {
    auto path = parse_json_path(column.json_path);
    readers.push_back({&column, path ? std::optional(std::move(*path)) : std::nullopt});
  }
  JsonArray rows;
  rows.reserve(objects.size());
  for (const Json& object : objects) {
    JsonArray cells{name_of(object)};
    for (const Reader& reader : readers) cells.push_back(cell_of(reader, object, now));
    JsonObject row{{"cells", std::move(cells)}};
    if (row_object != RowObject::none) row["object"] = row_object_of(object, row_object);
    rows.push_back(std::move(row));
  }
  return JsonObject{{"kind", "Table"},
                    {"apiVersion", "meta.k8s.io/v1"},
                    {"metadata", JsonObject()},
                    {"columnDefinitions", definitions(columns)},
                    {"rows", std::move(rows)}};
}

std::string human_duration(base::Duration age) {
  if (age.count() <= -2000) return "<invalid>";
  const std::int64_t seconds = std::max<std::int64_t>(age.count() / 1000, 0);
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  const std::int64_t years = days / 365;
  // "3h12m", and "3h" when the rest is nothing.
  const auto with_rest = [](std::int64_t whole, char unit, std::int64_t rest, char rest_unit) {
    return rest == 0 ? fmt::format("{}{}", whole, unit)
                     : fmt::format("{}{}{}{}", whole, unit, rest, rest_unit);
  };
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10) return with_rest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  if (hours < 8) return with_rest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  if (days < 8) return with_rest(days, 'd', hours % 24, 'h');
  if (years < 2) return fmt::format("{}d", days);
  if (years < 8) return with_rest(years, 'y', days % 365, 'd');
  return fmt::format("{}y", years);
}

}  // namespace meridian::kube
