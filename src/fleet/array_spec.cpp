// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "aws/model.h"
#include "base/digest.h"
#include "base/strings.h"
#include "fleet/template.h"
#include "kube/schema.h"
#include "operators/admission.h"
#include "operators/crd.h"
#include "operators/form.h"
#include "operators/kinds.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

[[noreturn]] void refuse(std::string message) {
  throw base::Error(base::Code::invalid_argument, std::move(message));
}

RowSource parse_source(const Json& spec) {
  const Json* rows = base::find(spec, "rows");
  if (rows == nullptr || !rows->is_object())
    refuse("spec.rows is missing: sql, manifest or inline");
  RowSource source{.sql = base::string_or(*rows, "sql"),
                   .manifest = base::string_or(*rows, "manifest"),
                   .inline_rows = {}};
  if (const Json* list = base::find(*rows, "inline"); list != nullptr && list->is_array())
    source.inline_rows = from_objects(list->get_array());
  const int given = (source.sql.empty() ? 0 : 1) + (source.manifest.empty() ? 0 : 1) +
                    (source.inline_rows ? 1 : 0);
  if (given != 1)
    refuse(fmt::format("spec.rows has {} of sql, manifest and inline; it takes exactly one",
                       given == 0 ? "none" : "several"));
  if (!source.manifest.empty() && !source.manifest.starts_with("s3://"))
    refuse(fmt::format("spec.rows.manifest: '{}' is not an s3:// URI", source.manifest));
  return source;
}

std::size_t index_of(const Table& rows, const std::string& column) {
  const auto found = std::ranges::find(rows.columns, column);
  if (found == rows.columns.end())
    refuse(fmt::format("spec.key: rows have no column '{}'; columns are {}", column,
                       base::join(rows.columns, ", ")));
  return static_cast<std::size_t>(found - rows.columns.begin());
}

std::vector<std::size_t> key_columns(const ArraySpec& spec, const Table& rows) {
  std::vector<std::size_t> columns;
  for (const std::string& column : spec.key) columns.push_back(index_of(rows, column));
  if (columns.empty())
    for (std::size_t i = 0; i < rows.columns.size(); ++i) columns.push_back(i);
  return columns;
}

std::string key_of(const Table& rows, std::size_t row, const std::vector<std::size_t>& columns) {
  std::vector<std::string> values;
  for (const std::size_t column : columns) {
    const Json& value = rows.rows[row][column];
    if (value.is_null())
      refuse(fmt::format("row {}: column '{}' of its key is NULL", row + 1, rows.columns[column]));
    values.push_back(text_of(value));
  }
  return base::join(values, " | ");
}

// The schema of a TrainingJob's spec, and the rules that a schema cannot say.
void check_job(const Json& spec, std::size_t row) {
  static const operators::Kind& kind = operators::get_kind("TrainingJob");
  static const kube::Schema schema = [] {
    JsonObject root{{"type", "object"}, {"properties", {{"spec", operators::spec_schema(kind)}}}};
    auto parsed = kube::parse_schema(Json(root));
    if (!parsed) throw base::Error(base::Code::internal, parsed.error().message);
    return *parsed;
  }();
  const Json job{{"apiVersion", "sagemaker.aws.amazon.com/v1"},
                 {"kind", "TrainingJob"},
                 {"metadata", {{"name", "row"}}},
                 {"spec", spec}};
  for (const std::string& field : kube::unknown_fields(schema, job))
    refuse(fmt::format("spec.template: unknown field '{}'",
                       field.substr(std::string("spec.").size())));
  auto causes = kube::validate(schema, job);
  if (causes.empty()) causes = operators::review(kind, job, nullptr).causes;
  if (!causes.empty())
    refuse(fmt::format(
        "row {}: spec.template.{}: {}", row + 1,
        causes[0].field.starts_with("spec.") ? causes[0].field.substr(5) : causes[0].field,
        causes[0].message));
}

// The filled specification with the types that the API wants, as its schema checks them.
Json typed_spec(const aws::Shape& shape, const Json& filled, const JsonObject& request) {
  Json typed = filled;
  if (base::find(typed, "region") == nullptr)
    typed.get_object()["region"] = "us-east-1";  // a plan gives it
  const Json members = operators::from_api(shape, request);
  for (const auto& [key, value] : members.get_object()) typed.get_object()[key] = value;
  return typed;
}

}  // namespace

ArraySpec parse_array_spec(const Json& spec) {
  ArraySpec out;
  out.rows = parse_source(spec);
  if (const Json* key = base::find(spec, "key"); key != nullptr && key->is_array())
    for (const Json& column : key->get_array()) out.key.push_back(text_of(column));
  const std::int64_t parallelism = base::int_or(spec, "parallelism", 100);
  if (parallelism < 1) refuse("spec.parallelism: at least 1");
  out.parallelism = static_cast<std::size_t>(parallelism);
  if (const Json* policy = base::find(spec, "failurePolicy")) {
    const std::int64_t after = base::int_or(*policy, "stopAfter", 0);
    if (after < 0) refuse("spec.failurePolicy.stopAfter: at least 1");
    if (after > 0) out.stop_after = static_cast<int>(after);
  }
  out.suspend = base::bool_or(spec, "suspend", false);
  const Json* specification = base::find(spec, "template");
  if (specification == nullptr || !specification->is_object())
    refuse("spec.template is missing: the spec of a TrainingJob");
  out.specification = *specification;
  out.placement = parse_placement(spec);
  if (out.placement.is_planned() && base::find(out.specification, "region") != nullptr)
    refuse("spec.template.region fixes the region: leave it out, or leave out spec.placement");
  columns_of(out.specification);  // refuses references of another form
  return out;
}

std::vector<RowPlan> plan_rows(const ArraySpec& spec, const Table& rows,
                               const std::string& identity) {
  const aws::Shape& shape = *aws::get_model("sagemaker").find_operation("CreateTrainingJob")->input;
  const auto columns = key_columns(spec, rows);
  std::map<std::string, std::size_t> seen;
  std::vector<RowPlan> plans;
  plans.reserve(rows.rows.size());
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    RowPlan plan;
    plan.key = key_of(rows, i, columns);
    if (const auto [first, fresh] = seen.try_emplace(plan.key, i); !fresh)
      refuse(fmt::format("rows {} and {} have the same key '{}'; name more columns in spec.key",
                         first->second + 1, i + 1, plan.key));
    const Json filled = base::while_doing(fmt::format("filling the template for row {}", i + 1),
                                          [&] { return fill(spec.specification, rows.row(i)); });
    plan.region = base::string_or(filled, "region");
    if (plan.region.empty() && !spec.placement.is_planned())
      refuse(fmt::format("row {}: spec.template.region is empty", i + 1));
    plan.request = conform(shape, operators::to_api(shape, filled)).as_object();
    // The rest differ in values only, which the region checks.
    if (i == 0) check_job(typed_spec(shape, filled, plan.request), i);
    plan.id = base::sha256_hex(identity + "\n" + plan.key).substr(0, 12);
    plan.digest =
        base::sha256_hex(plan.region + base::to_text(plan.request, base::JsonStyle::sorted))
            .substr(0, 32);
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::string job_name(const std::string& array, const std::string& id, int attempt) {
  const std::string end = fmt::format("-{}-{}", id, attempt);
  std::string name = array.substr(0, 63 - end.size());
  std::ranges::replace(name, '.', '-');
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name + end;
}

}  // namespace meridian::fleet
