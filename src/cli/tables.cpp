// SPDX-License-Identifier: Apache-2.0
#include "cli/tables.h"

#include <ostream>

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

void print_query(Context& context, const std::string& sql, const std::string& format) {
  auto& client = context.session().sagemaker();
  if (format == "csv") {
    context.console.out() << base::string_or(
        client.call_meridian("catalog-query", {{"Sql", sql}, {"Form", "csv"}}), "Text");
    return;
  }
  const Json answer = ask_catalog(context, sql);
  const auto& columns = base::find(answer, "Columns")->as_array();
  const auto& rows = base::find(answer, "Rows")->as_array();
  if (const Format form = parse_format(format); form == Format::json || form == Format::yaml) {
    base::JsonArray objects;
    for (const Json& row : rows) {
      base::JsonObject object;
      for (std::size_t i = 0; i < columns.size(); ++i)
        object[columns[i].as_string()] = row.as_array()[i];
      objects.push_back(std::move(object));
    }
    print_value(context.console.out(), Json(objects), form);
    return;
  }
  std::vector<std::string> header;
  for (const Json& column : columns) header.push_back(base::to_upper(cell(column)));
  Table table(header);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const Json& value : row.as_array()) cells.push_back(cell(value));
    table.add(std::move(cells));
  }
  table.print(context.console.out());
}

}  // namespace meridian::cli
