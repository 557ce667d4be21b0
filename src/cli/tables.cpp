// SPDX-License-Identifier: Apache-2.0
#include "cli/tables.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include "base/strings.h"
#include "cli/format.h"
#include "cli/output.h"

namespace meridian::cli {

using base::Json;

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (const auto* text = value.if_string())
    return text->empty() ? "-" : std::string(base::view(*text));
  if (value.is_double()) return format_number(value.get_double());
  return base::to_text(value);
}

std::string sql_quote(std::string_view text) {
  return "'" + base::replace_all(text, "'", "''") + "'";
}

Json ask_catalog(Context& context, const std::string& sql) {
  return context.session().sagemaker().call_meridian("catalog-query", {{"Sql", sql}});
}

namespace {

std::vector<std::string> texts_of(const base::JsonArray& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) {
    const auto* text = value.if_string();
    texts.emplace_back(value.is_null()   ? ""
                       : text != nullptr ? std::string(base::view(*text))
                                         : base::to_text(value));
  }
  return texts;
}

void print_csv_line(std::ostream& out, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& value = values[i];
    const bool quote = value.find_first_of(",\"\r\n") != std::string::npos;
    out << (i == 0 ? "" : ",")
        << (quote ? "\"" + base::replace_all(value, "\"", "\"\"") + "\"" : value);
  }
  out << "\r\n";
}

Json objects_of(const base::JsonArray& columns, const base::JsonArray& rows) {
  base::JsonArray objects;
  for (const Json& row : rows) {
    base::JsonObject object;
    for (std::size_t i = 0; i < columns.size(); ++i)
      object[columns[i].as_string()] = row.as_array()[i];
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace

void print_answer(Context& context, const Json& answer, const std::string& format) {
  auto& out = context.console.out();
  const auto& columns = base::find(answer, "Columns")->as_array();
  const auto& rows = base::find(answer, "Rows")->as_array();
  if (format == "csv") {
    print_csv_line(out, texts_of(columns));
    for (const Json& row : rows) print_csv_line(out, texts_of(row.as_array()));
    return;
  }
  if (const Format form = parse_format(format); form == Format::json || form == Format::yaml)
    return print_value(out, objects_of(columns, rows), form);
  std::vector<std::string> header;
  for (const Json& column : columns) header.push_back(base::to_upper(cell(column)));
  Table table(header);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const Json& value : row.as_array()) cells.push_back(cell(value));
    table.add(std::move(cells));
  }
  table.print(out);
}

Json spread_metrics(const Json& answer) {
  const auto& columns = base::find(answer, "Columns")->as_array();
  const auto& rows = base::find(answer, "Rows")->as_array();
  const auto found = std::ranges::find(columns, Json("metrics"));
  if (found == columns.end()) return answer;
  const auto at = static_cast<std::size_t>(found - columns.begin());
  std::vector<base::JsonObject> values;
  std::vector<std::string> names;
  for (const Json& row : rows) {
    const auto* text = row.as_array()[at].if_string();
    const auto parsed = base::parse_json(text != nullptr ? base::view(*text) : "{}");
    values.push_back(parsed && parsed->is_object() ? parsed->get_object() : base::JsonObject{});
    for (const auto& [name, value] : values.back())
      if (std::ranges::find(names, std::string_view(name)) == names.end()) names.emplace_back(name);
  }
  const auto spread = [&](const base::JsonArray& whole, const base::JsonArray& instead) {
    base::JsonArray out(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
    out.insert(out.end(), instead.begin(), instead.end());
    out.insert(out.end(), whole.begin() + static_cast<std::ptrdiff_t>(at) + 1, whole.end());
    return out;
  };
  base::JsonArray out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    base::JsonArray metrics;
    for (const std::string& name : names) {
      const Json* value = base::find(values[i], name);
      metrics.push_back(value != nullptr ? *value : Json(nullptr));
    }
    out.push_back(spread(rows[i].as_array(), metrics));
  }
  return {{"Columns", spread(columns, base::JsonArray(names.begin(), names.end()))},
          {"Rows", std::move(out)}};
}

}  // namespace meridian::cli
