// SPDX-License-Identifier: Apache-2.0
#include "fleet/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <set>

#include "base/strings.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using Steady = std::chrono::steady_clock;

struct CloseConnection {
  void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

struct Deadline {
  Steady::time_point end;
  bool passed = false;
};

int stop_when_late(void* deadline) {
  auto& d = *static_cast<Deadline*>(deadline);
  d.passed = Steady::now() >= d.end;
  return d.passed ? 1 : 0;
}

// What a query may do: read, call functions, recurse.
int only_reading(void* allow_attach, int action, const char*, const char* second, const char*,
                 const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY
                                                                               : SQLITE_OK;
    case SQLITE_ATTACH: return *static_cast<bool*>(allow_attach) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

std::string read_only_uri(const std::filesystem::path& file) {
  return "file:" + base::percent_encode(file.string(), "/") + "?mode=ro";
}

void require_file(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    throw base::Error(base::Code::not_found, fmt::format("no database '{}'", file.string()));
}

Connection open(const std::string& uri) {
  sqlite3* raw = nullptr;
  const int result =
      sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Connection connection(raw);
  if (result != SQLITE_OK)
    throw base::Error(base::Code::unavailable,
                      fmt::format("cannot open the database: {}", sqlite3_errmsg(raw)));
  sqlite3_busy_timeout(raw, 2'000);
  return connection;
}

void attach(sqlite3* connection, const std::filesystem::path& catalog) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(connection, "ATTACH DATABASE ? AS meridian", -1, &raw, nullptr);
  const Statement statement(raw);
  const std::string uri = read_only_uri(catalog);
  sqlite3_bind_text(raw, 1, uri.data(), static_cast<int>(uri.size()), SQLITE_TRANSIENT);
  if (sqlite3_step(raw) != SQLITE_DONE)
    throw base::Error(base::Code::unavailable,
                      fmt::format("cannot open the catalog: {}", sqlite3_errmsg(connection)));
}

[[noreturn]] void refuse(sqlite3* connection, const Deadline& deadline, QueryLimits limits) {
  if (deadline.passed)
    throw base::Error(base::Code::deadline_exceeded,
                      fmt::format("the query took longer than {} s; narrow it, or add an index",
                                  limits.time.count() / 1000));
  const std::string message = sqlite3_errmsg(connection);
  const bool denied = message.find("not authorized") != std::string::npos ||
                      message.find("prohibited") != std::string::npos;
  throw base::Error(base::Code::invalid_argument,
                    denied ? "SQL: only one SELECT is allowed here: nothing is written by a query"
                           : "SQL: " + message);
}

Statement prepare(sqlite3* connection, const std::string& sql, const Deadline& deadline,
                  QueryLimits limits) {
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int result =
      sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  Statement statement(raw);
  if (result != SQLITE_OK) refuse(connection, deadline, limits);
  if (raw == nullptr)
    throw base::Error(base::Code::invalid_argument, "SQL: the text holds no statement");
  // Another statement, a comment or blanks may follow; only the first is an error.
  sqlite3_stmt* second = nullptr;
  const int after = sqlite3_prepare_v2(
      connection, rest, static_cast<int>(sql.data() + sql.size() - rest), &second, nullptr);
  const Statement another(second);
  if (after != SQLITE_OK || second != nullptr)
    throw base::Error(base::Code::invalid_argument, "SQL: more than one statement");
  if (sqlite3_stmt_readonly(raw) == 0)
    throw base::Error(base::Code::invalid_argument,
                      "SQL: only one SELECT is allowed here: nothing is written by a query");
  return statement;
}

std::vector<std::string> columns_of(sqlite3_stmt* statement) {
  std::vector<std::string> columns;
  for (int i = 0; i < sqlite3_column_count(statement); ++i)
    columns.emplace_back(sqlite3_column_name(statement, i));
  std::set<std::string> seen;
  for (const std::string& column : columns) {
    if (!seen.insert(column).second)
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("SQL: two columns are called '{}'; name one with AS", column));
  }
  return columns;
}

Json value_of(sqlite3_stmt* statement, int column, std::size_t row) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return nullptr;
    case SQLITE_TEXT: {
      const std::string text(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                             static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
      if (base::is_valid_utf8(text)) return Json(text);
      break;
    }
    default: break;
  }
  throw base::Error(
      base::Code::invalid_argument,
      fmt::format("SQL: row {}, column '{}' holds bytes that are not text; convert it with hex()",
                  row + 1, sqlite3_column_name(statement, column)));
}

}  // namespace

Table query(const QuerySource& source, const std::string& sql, QueryLimits limits) {
  const auto& main = source.database.empty() ? source.catalog : source.database;
  require_file(main);
  // The order matters: statements go before the connection that they belong to.
  const Connection connection = open(read_only_uri(main));
  if (!source.database.empty() && !source.catalog.empty()) attach(connection.get(), source.catalog);
  bool allow_attach = false;
  sqlite3_set_authorizer(connection.get(), only_reading, &allow_attach);
  Deadline deadline{.end = Steady::now() + limits.time};
  sqlite3_progress_handler(connection.get(), 10'000, stop_when_late, &deadline);
  const Statement statement = prepare(connection.get(), sql, deadline, limits);
  Table table{.columns = columns_of(statement.get()), .rows = {}};
  const int width = static_cast<int>(table.columns.size());
  int result = 0;
  while ((result = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (table.rows.size() == limits.rows)
      throw base::Error(base::Code::resource_exhausted,
                        fmt::format("the query gives more than {} rows", limits.rows));
    JsonArray row;
    row.reserve(table.columns.size());
    for (int i = 0; i < width; ++i) row.push_back(value_of(statement.get(), i, table.rows.size()));
    table.rows.push_back(std::move(row));
  }
  if (result != SQLITE_DONE) refuse(connection.get(), deadline, limits);
  return table;
}

std::filesystem::path database_file(const std::string& url) {
  for (const std::string_view prefix : {"sqlite://", "sqlite:", "file:"}) {
    if (url.starts_with(prefix)) return url.substr(prefix.size());
  }
  const std::size_t scheme = url.find("://");
  if (scheme != std::string::npos)
    throw base::Error(
        base::Code::unimplemented,
        fmt::format("databases of the kind '{}' are not supported yet; sqlite:///PATH is",
                    url.substr(0, scheme)));
  return url;
}

}  // namespace meridian::fleet
