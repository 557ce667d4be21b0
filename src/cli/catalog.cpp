// `meridian catalog`: campaigns, datasets, offers and links of an installation, and queries on
// them.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <ostream>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/tables.h"

namespace meridian::cli {
namespace {

struct CatalogOptions {
  std::string table, file, sql, to, submit, format = "table";
};

std::string read_text(const std::string& file) {
  if (file != "-") return base::read_file(file);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int import(Context& context, const CatalogOptions& o) {
  const auto answer = context.session().sagemaker().call_meridian(
      "catalog-import", {{"Table", o.table}, {"Csv", read_text(o.file)}});
  context.console.say(
      fmt::format("{} into {}", count_of(base::int_or(answer, "Rows", 0), "row"), o.table));
  return 0;
}

int tables(Context& context, const CatalogOptions& o) {
  const auto answer = context.session().sagemaker().call_meridian("catalog-tables", {});
  const auto format = parse_format(o.format);
  if (format == Format::json || format == Format::yaml) {
    print_value(context.console.out(), answer, format);
    return 0;
  }
  Table table({"TABLE", "ROWS", "COLUMNS"});
  for (const auto& entry : base::find(answer, "Tables")->as_array()) {
    std::string columns;
    for (const auto& column : base::find(entry, "Columns")->as_array())
      columns += (columns.empty() ? "" : ", ") + cell(column);
    table.add({base::string_or(entry, "Name"), fmt::format("{}", base::int_or(entry, "Rows", 0)),
               columns});
  }
  table.print(context.console.out());
  return 0;
}

std::string sql_of(const CatalogOptions& o) {
  if (o.sql.empty() == o.file.empty())
    throw base::Error(base::Code::invalid_argument,
                      "give one query: as an argument, or as a file with -f");
  return o.file.empty() ? o.sql : read_text(o.file);
}

constexpr std::int64_t kFewest = 2, kMost = 10'000;  // children of an array, by AWS Batch

// An array job whose children read the file that S3_ARRAY_FILE names, a line each.
void submit_array(Context& context, const CatalogOptions& o, std::int64_t size) {
  const auto colon = o.submit.find(':');
  if (colon == std::string::npos || !o.to.starts_with("s3://"))
    throw base::Error(
        base::Code::invalid_argument,
        "--submit takes QUEUE:DEFINITION, and --to an s3:// URI that the jobs can read");
  if (size < kFewest || size > kMost)
    throw base::Error(
        base::Code::failed_precondition,
        fmt::format(
            "the query gives {}; an array job has {} to {} children (`meridian fanout` takes "
            "any number)",
            count_of(size, "row"), kFewest, kMost));
  const std::string definition = o.submit.substr(colon + 1);
  const auto answer = context.session().batch().post(
      "/v1/submitjob", {{"jobName", definition.substr(0, definition.find(':')) + "-array"},
                        {"jobQueue", o.submit.substr(0, colon)},
                        {"jobDefinition", definition},
                        {"arrayProperties", {{"size", size}}},
                        {"containerOverrides",
                         {{"environment", base::JsonArray{base::JsonObject{
                                              {"name", "S3_ARRAY_FILE"}, {"value", o.to}}}}}}});
  context.console.say(fmt::format("Submitted {}: aws batch describe-jobs --jobs {}",
                                  base::string_or(answer, "jobArn"),
                                  base::string_or(answer, "jobId")));
}

// The article's array file: a line per row.
int write_manifest(Context& context, const CatalogOptions& o) {
  auto& session = context.session();
  const auto answer = session.sagemaker().call_meridian("catalog-query",
                                                        {{"Sql", sql_of(o)}, {"Form", "manifest"}});
  const std::string text = base::string_or(answer, "Text");
  const auto count = base::int_or(answer, "Count", 0);
  if (o.to == "-") {
    context.console.out() << text;
  } else if (const auto uri = s3::parse_uri(o.to)) {
    const base::TempDir directory("manifest");
    base::write_file(directory.path() / "array", text);
    session.objects().put_file(uri->bucket, uri->key, directory.path() / "array", {});
  } else {
    base::write_file(o.to, text);
  }
  context.console.say(fmt::format("{} in {}: the array's size", count_of(count, "row"), o.to));
  if (!o.submit.empty()) submit_array(context, o, count);
  return 0;
}

int query(Context& context, const CatalogOptions& o) {
  if (!o.to.empty() || !o.submit.empty()) return write_manifest(context, o);
  print_answer(context, ask_catalog(context, sql_of(o)), o.format);
  return 0;
}

}  // namespace

void add_catalog(Command root, Context& context) {
  auto catalog = root.add("catalog", "Campaigns, datasets and offers, and queries on them", "");
  auto o = std::make_shared<CatalogOptions>();
  auto importing = catalog.add(
      "import", "Add rows of a CSV file with a header; rows of the same key are replaced",
      "meridian catalog import datasets datasets.csv");
  importing.argument("table", o->table, "campaigns, datasets, offers or links");
  importing.argument("file", o->file, "CSV file, or - for standard input");
  importing.run([o, &context] { return import(context, *o); });
  auto listing =
      catalog.add("tables", "List the tables and their columns", "meridian catalog tables");
  listing.option("-o,--format", o->format, "table, json or yaml");
  listing.run([o, &context] { return tables(context, *o); });
  auto asking = catalog.add("query", "Run one SELECT on the campaign database and the catalog",
                            "meridian catalog query -f rows.sql --to s3://bucket/array.txt");
  asking.argument("sql", o->sql, "the query", Need::optional);
  asking.option("-f,--file", o->file, "file with the query, or -");
  asking.option("--to", o->to, "write the rows as an array file: s3:// URI, file, or -");
  asking.option("--submit", o->submit, "QUEUE:DEFINITION: submit an array job of that size");
  asking.option("-o,--format", o->format, "table, csv or json");
  asking.run([o, &context] { return query(context, *o); });
}

}  // namespace meridian::cli
