// SPDX-License-Identifier: Apache-2.0
#include "fleet/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/sync.h"
#include "store/sqlite.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::int64_t kVersion = 2;

constexpr const char* kSchema = R"(
CREATE TABLE campaigns (
  name TEXT PRIMARY KEY NOT NULL, region TEXT, description TEXT, recorded_at TEXT);
CREATE TABLE datasets (
  uri TEXT PRIMARY KEY NOT NULL, campaign TEXT, region TEXT, bytes INTEGER, recorded_at TEXT,
  labels TEXT);
CREATE INDEX datasets_by_campaign ON datasets (campaign);
CREATE TABLE offers (
  region TEXT NOT NULL, instance_type TEXT NOT NULL, market TEXT NOT NULL, price REAL,
  capacity INTEGER, as_of TEXT, source TEXT, PRIMARY KEY (region, instance_type, market));
CREATE TABLE links (
  from_region TEXT NOT NULL, to_region TEXT NOT NULL, price_per_gb REAL, mbit_per_s REAL,
  as_of TEXT, PRIMARY KEY (from_region, to_region));
CREATE TABLE array_results (
  namespace TEXT NOT NULL, array TEXT NOT NULL, key TEXT NOT NULL, row INTEGER, state TEXT,
  region TEXT, job TEXT, attempt INTEGER, reason TEXT, started_ms INTEGER, ended_ms INTEGER,
  billable_seconds INTEGER, cost_usd REAL, metrics TEXT, columns TEXT,
  PRIMARY KEY (namespace, array, key));
)";

// Since version 2.
constexpr const char* kOfferColumns = R"(
ALTER TABLE offers ADD COLUMN zone TEXT;
ALTER TABLE offers ADD COLUMN reclaims_per_hour REAL;
ALTER TABLE offers ADD COLUMN reclaimed_at TEXT;
)";

// What people may import, and which columns make a line's key.
const std::map<std::string, std::vector<std::string>> kImportable{
    {"campaigns", {"name"}},
    {"datasets", {"uri"}},
    {"offers", {"region", "instance_type", "market"}},
    {"links", {"from_region", "to_region"}}};

std::vector<std::string> columns_of(store::Connection& db, const std::string& table) {
  std::vector<std::string> columns;
  store::Query query(db, "SELECT name FROM pragma_table_info(?) ORDER BY cid");
  query.bind(std::string_view(table));
  while (query.step()) columns.emplace_back(query.text(0));
  return columns;
}

void check_columns(store::Connection& db, const std::string& name, const Table& rows) {
  const auto known = columns_of(db, name);
  for (const std::string& column : rows.columns) {
    if (std::ranges::find(known, column) != known.end()) continue;
    const auto meant = base::nearest(column, known);
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("table {} has no column '{}'{}; it has {}", name, column,
                                  meant ? fmt::format(" (did you mean '{}'?)", *meant) : "",
                                  base::join(known, ", ")));
  }
  for (const std::string& key : kImportable.at(name)) {
    const auto found = std::ranges::find(rows.columns, key);
    if (found == rows.columns.end())
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("table {} needs the column '{}'", name, key));
    const auto at = static_cast<std::size_t>(found - rows.columns.begin());
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      if (text_of(rows.rows[i][at]).empty())
        throw base::Error(base::Code::invalid_argument,
                          fmt::format("row {}: '{}' is empty", i + 1, key));
    }
  }
}

void bind_optional(store::Query& query, const std::optional<std::int64_t>& value) {
  if (value) {
    query.bind(*value);
  } else {
    query.bind_null();
  }
}

}  // namespace

struct Catalog::State {
  explicit State(const std::filesystem::path& f)
      : file(f),
        db(std::make_unique<store::Connection>(f.string(), store::Connection::Mode::create)) {}
  std::filesystem::path file;
  base::Sync<std::unique_ptr<store::Connection>> db;
};

Catalog::Catalog(const std::filesystem::path& file) : state_(std::make_unique<State>(file)) {
  auto db = state_->db.lock();
  (*db)->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  const std::int64_t version = (*db)->number("PRAGMA user_version");
  if (version > kVersion)
    throw base::Error(base::Code::failed_precondition,
                      fmt::format("'{}' was made by a later version of Meridian", file.string()));
  if (version == kVersion) return;
  store::Transaction transaction(**db, store::Transaction::Kind::write);
  if (version < 1) (*db)->execute(kSchema);
  (*db)->execute(kOfferColumns);
  (*db)->execute(fmt::format("PRAGMA user_version = {}", kVersion));
  transaction.commit();
}

Catalog::~Catalog() = default;

const std::filesystem::path& Catalog::file() const { return state_->file; }

std::size_t Catalog::import(const std::string& table, const Table& rows) {
  if (!kImportable.contains(table)) {
    std::vector<std::string> names;
    for (const auto& [name, key] : kImportable) names.push_back(name);
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("'{}' is not a table to import into; one of {}", table,
                                  base::join(names, ", ")));
  }
  auto db = state_->db.lock();
  check_columns(**db, table, rows);
  std::string updates;
  for (const std::string& column : rows.columns)
    updates += fmt::format("{}{} = excluded.{}", updates.empty() ? "" : ", ", column, column);
  const std::string sql =
      fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO UPDATE SET {}", table,
                  base::join(rows.columns, ", "),
                  base::join(std::vector<std::string>(rows.columns.size(), "?"), ", "), updates);
  store::Transaction transaction(**db, store::Transaction::Kind::write);
  for (const JsonArray& row : rows.rows) {
    std::vector<std::string> texts;  // alive until the statement ran
    for (const Json& value : row) texts.push_back(text_of(value));
    store::Query insert(**db, sql);
    for (std::size_t i = 0; i < row.size(); ++i) {
      // Column affinity makes numbers of texts that are numbers.
      if (row[i].is_null() || texts[i].empty()) {
        insert.bind_null();
      } else {
        insert.bind(std::string_view(texts[i]));
      }
    }
    insert.run();
  }
  transaction.commit();
  return rows.rows.size();
}

JsonArray Catalog::tables() {
  auto db = state_->db.lock();
  std::vector<std::string> names;
  {
    store::Query query(**db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    while (query.step()) names.emplace_back(query.text(0));
  }
  JsonArray out;
  for (const std::string& name : names) {
    const auto columns = columns_of(**db, name);
    out.push_back(JsonObject{{"Name", name},
                             {"Columns", JsonArray(columns.begin(), columns.end())},
                             {"Rows", (*db)->number("SELECT count(*) FROM " + name)}});
  }
  return out;
}

void Catalog::write_results(const std::vector<ResultLine>& lines) {
  auto db = state_->db.lock();
  store::Transaction transaction(**db, store::Transaction::Kind::write);
  for (const ResultLine& line : lines) {
    const std::string cost = line.cost_usd ? base::number_text(*line.cost_usd) : "";
    store::Query put(**db,
                     "INSERT OR REPLACE INTO array_results VALUES "
                     "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    put.bind(std::string_view(line.ns)).bind(std::string_view(line.array));
    put.bind(std::string_view(line.key)).bind(line.row).bind(std::string_view(line.state));
    put.bind(std::string_view(line.region)).bind(std::string_view(line.job));
    put.bind(std::int64_t{line.attempt}).bind(std::string_view(line.reason));
    bind_optional(put, line.started_ms);
    bind_optional(put, line.ended_ms);
    bind_optional(put, line.billable_seconds);
    if (cost.empty()) {
      put.bind_null();
    } else {
      put.bind(std::string_view(cost));
    }
    put.bind(std::string_view(line.metrics)).bind(std::string_view(line.columns));
    put.run();
  }
  transaction.commit();
}

void Catalog::remove_results(const std::string& ns, const std::string& array) {
  auto db = state_->db.lock();
  store::Query remove(**db, "DELETE FROM array_results WHERE namespace = ? AND array = ?");
  remove.bind(std::string_view(ns)).bind(std::string_view(array));
  remove.run();
}

}  // namespace meridian::fleet
