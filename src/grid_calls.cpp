// SPDX-License-Identifier: Apache-2.0
#include "grid_calls.h"

#include <algorithm>

#include "base/json.h"
#include "key_calls.h"

namespace meridian {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// Form: rows (JSON), or manifest (the lines that an array job reads).
JsonObject in_form(const fleet::Table& table, const std::string& form) {
  JsonObject out{{"Columns", JsonArray(table.columns.begin(), table.columns.end())},
                 {"Count", static_cast<std::int64_t>(table.rows.size())}};
  if (form == "manifest") {
    out["Text"] = fleet::format_manifest(table);
  } else if (form == "rows") {
    JsonArray rows;
    for (const JsonArray& row : table.rows) rows.push_back(row);
    out["Rows"] = std::move(rows);
  } else {
    throw aws::ApiError("ValidationException", "Form: '" + form + "' is neither rows nor manifest");
  }
  return out;
}

JsonObject import(fleet::Catalog& catalog, const Json& input) {
  const auto table = fleet::parse_csv(base::string_or(input, "Csv"));
  if (!table) throw aws::ApiError("ValidationException", table.error().text());
  const auto count = catalog.import(base::string_or(input, "Table"), *table);
  return {{"Rows", static_cast<std::int64_t>(count)}};
}

}  // namespace

std::map<std::string, aws::OperationHandler> grid_calls(identity::Identity& identity,
                                                        fleet::Catalog& catalog,
                                                        std::function<fleet::Arrays&()> arrays) {
  std::map<std::string, aws::OperationHandler> calls;
  const auto add = [&](const std::string& name, auto work) {
    calls[name] = [&identity, work](const aws::CallContext& context, const JsonObject& input) {
      require_admin(identity, context);
      return Json(work(Json(input)));
    };
  };
  add("catalog-tables", [&catalog](const Json&) {
    return JsonObject{{"File", catalog.file().string()}, {"Tables", catalog.tables()}};
  });
  add("catalog-query", [arrays](const Json& input) {
    return in_form(arrays().query(base::string_or(input, "Sql")),
                   base::string_or(input, "Form", "rows"));
  });
  add("catalog-import", [&catalog](const Json& input) { return import(catalog, input); });
  add("arrays-plan", [arrays](const Json& input) {
    const Json* spec = base::find(input, "Spec");
    if (spec == nullptr || !spec->is_object())
      throw aws::ApiError("ValidationException", "Spec is missing");
    std::vector<std::string> why;
    if (const Json* keys = base::find(input, "Why"); keys != nullptr && keys->is_array())
      for (const Json& key : keys->get_array()) why.push_back(fleet::text_of(key));
    return arrays().plan(*spec, base::string_or(input, "Namespace", "default"),
                         base::string_or(input, "Name"), why);
  });
  add("arrays-preview", [arrays](const Json& input) {
    const Json* spec = base::find(input, "Spec");
    if (spec == nullptr || !spec->is_object())
      throw aws::ApiError("ValidationException", "Spec is missing");
    const auto shown = base::int_or(input, "Shown", 5);
    return arrays().preview(*spec,
                            static_cast<std::size_t>(std::clamp<std::int64_t>(shown, 0, 1'000)));
  });
  return calls;
}

}  // namespace meridian
