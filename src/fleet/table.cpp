// SPDX-License-Identifier: Apache-2.0
#include "fleet/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kMostBytes = 64u << 20;
constexpr std::size_t kMostRows = 1'000'000;

base::ParseError at(int line, std::string message) {
  return {.message = std::move(message), .line = line, .column = 1};
}

// One line's values; quotes as RFC 4180 has them, within one line.
base::Result<std::vector<std::string>> split_line(std::string_view line, int number) {
  std::vector<std::string> values;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
    std::string value;
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i >= line.size()) return at(number, "a quoted value has no closing '\"'");
        if (line[i] != '"') {
          value += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          value += line[++i];
        } else {
          break;
        }
      }
      const std::size_t end = std::min(line.find(',', i), line.size());
      if (!base::trim(line.substr(i + 1, end - i - 1)).empty())
        return at(number, "text after a quoted value; a comma has to follow");
      i = end;
    } else {
      const std::size_t end = std::min(line.find(',', i), line.size());
      value = base::trim(line.substr(i, end - i));
      i = end;
    }
    values.push_back(std::move(value));
    if (i >= line.size()) return values;
    ++i;
  }
}

// us-west-2, us-gov-east-1
bool looks_like_region(std::string_view text) {
  const auto pieces = base::split(text, '-');
  return pieces.size() >= 3 && pieces[0].size() == 2 && base::to_uint(pieces.back()).has_value();
}

bool is_header(const std::vector<std::string>& values) {
  return std::ranges::none_of(values, [](const std::string& value) {
    return value.empty() || value.find("://") != std::string::npos || looks_like_region(value) ||
           base::to_double(value).has_value();
  });
}

std::vector<std::string> articles_columns(std::size_t count) {
  std::vector<std::string> columns{"region", "s3_location"};
  for (std::size_t i = 2; i < count; ++i) columns.push_back(fmt::format("column{}", i + 1));
  columns.resize(count);
  return columns;
}

void check_value(const Json& value, std::size_t row, std::string_view column) {
  if (value.is_structured())
    throw base::Error(
        base::Code::invalid_argument,
        fmt::format("row {}, column '{}': a list or an object; a column holds a text, "
                    "a number or null",
                    row + 1, column));
}

}  // namespace

JsonObject Table::row(std::size_t index) const {
  JsonObject out;
  for (std::size_t i = 0; i < columns.size(); ++i) out[columns[i]] = rows[index][i];
  return out;
}

std::string type_of_column(const Table& table, std::size_t column) {
  std::set<std::string> types;
  for (const JsonArray& row : table.rows) {
    const Json& value = row[column];
    if (value.is_null()) continue;
    types.insert(value.is_string() ? "text" : value.is_double() ? "real" : "integer");
  }
  if (types.empty()) return "null";
  if (types.size() == 1) return *types.begin();
  return types.contains("text") ? "mixed" : "real";
}

namespace {

enum class Header { always, if_of_names };

base::Result<Table> parse_lines(std::string_view text, Header header) {
  if (text.size() > kMostBytes) return at(1, "more than 64 MiB");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Table table;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (!base::is_valid_utf8(line)) return at(number, "is not UTF-8");
    auto values = split_line(line, number);
    if (!values) return values.error();
    if (table.columns.empty()) {
      if (header == Header::always || is_header(*values)) {
        const std::set<std::string> distinct(values->begin(), values->end());
        if (distinct.size() != values->size()) return at(number, "two columns have one name");
        table.columns = std::move(*values);
        continue;
      }
      table.columns = articles_columns(values->size());
    }
    if (values->size() != table.columns.size())
      return at(number, fmt::format("has {} values, the columns are {}", values->size(),
                                    base::join(table.columns, ", ")));
    if (table.rows.size() == kMostRows) return at(number, "more than 1,000,000 rows");
    table.rows.emplace_back(values->begin(), values->end());
  }
  return table;
}

}  // namespace

base::Result<Table> parse_manifest(std::string_view text) {
  return parse_lines(text, Header::if_of_names);
}

base::Result<Table> parse_csv(std::string_view text) { return parse_lines(text, Header::always); }

std::string format_manifest(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::string line;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const std::string value = text_of(table.rows[i][c]);
      if (value.find_first_of(",\"\r\n") != std::string::npos || base::trim(value) != value)
        throw base::Error(
            base::Code::invalid_argument,
            fmt::format("row {}, column '{}': the value '{}' has a comma, a quote, a line break or "
                        "blanks at its ends, which a line of a manifest cannot hold; change it in "
                        "the query",
                        i + 1, table.columns[c], value));
      line += (c == 0 ? "" : ",") + value;
    }
    out += line + "\n";
  }
  return out;
}

Table from_objects(const JsonArray& objects) {
  Table table;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const JsonObject* object = objects[i].if_object();
    if (object == nullptr)
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("row {} is not an object of columns", i + 1));
    if (i == 0)
      for (const auto& [key, value] : *object) table.columns.emplace_back(key);
    JsonArray row;
    for (const std::string& column : table.columns) {
      const Json* value = object->if_contains(column);  // null counts
      if (value == nullptr || object->size() != table.columns.size())
        throw base::Error(base::Code::invalid_argument,
                          fmt::format("row {} has other columns than row 1, which has {}", i + 1,
                                      base::join(table.columns, ", ")));
      check_value(*value, i, column);
      row.push_back(value->is_bool() ? Json(value->get_bool() ? "true" : "false") : *value);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  if (const auto* text = value.if_string()) return std::string(base::view(*text));
  if (value.is_double()) return base::number_text(value.get_double());
  return base::to_text(value);
}

}  // namespace meridian::fleet
