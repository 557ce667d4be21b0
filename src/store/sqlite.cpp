// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "base/error.h"

namespace meridian::store {
namespace {

using base::Code;

Code code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL: return Code::resource_exhausted;
    case SQLITE_NOMEM: return Code::resource_exhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Code::data_loss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN: return Code::permission_denied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::unavailable;
    default: return Code::internal;
  }
}

// What to do about it, where there is something to do.
std::string_view advice(Code code) {
  switch (code) {
    case Code::resource_exhausted: return "; free space on this disk";
    case Code::data_loss: return "; restore the file from a copy";
    case Code::permission_denied: return "; the file and its directory must be writable";
    default: return "";
  }
}

int flags_of(Connection::Mode mode) {
  switch (mode) {
    case Connection::Mode::create: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Connection::Mode::existing: return SQLITE_OPEN_READWRITE;
    case Connection::Mode::read_only: return SQLITE_OPEN_READONLY;
  }
  std::abort();
}

}  // namespace

Connection::Connection(const std::string& path, Mode mode) : path_(path) {
  const int result =
      sqlite3_open_v2(path.c_str(), &db_, flags_of(mode) | SQLITE_OPEN_NOMUTEX, nullptr);
  if (result != SQLITE_OK) {
    try {
      fail(result, "open it");
    } catch (...) {
      sqlite3_close(db_);
      throw;
    }
  }
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, 5000);
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

void Connection::fail(int result, std::string_view doing) const {
  const int os_error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
  Code code = code_of(result);
  std::string why = db_ == nullptr ? sqlite3_errstr(result) : sqlite3_errmsg(db_);
  const bool disk_is_full =
      (result & 0xff) == SQLITE_FULL ||
      ((result & 0xff) == SQLITE_IOERR && (os_error == ENOSPC || os_error == EDQUOT));
  if (disk_is_full) code = Code::resource_exhausted;
  const bool names_cause = (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
  if (names_cause && os_error != 0) why += fmt::format(" ({})", std::strerror(os_error));
  throw base::Error(code, fmt::format("store {}: cannot {}: {}{}", path_, doing, why, advice(code)),
                    code == Code::unavailable || disk_is_full ? base::Retry::yes : base::Retry::no);
}

void Connection::execute(const std::string& statements) {
  const int result = sqlite3_exec(db_, statements.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail(result, "run '" + statements.substr(0, 60) + "'");
}

std::int64_t Connection::number(const std::string& sql) {
  Query query(*this, sql);
  return query.step() ? query.number(0) : 0;
}

std::string Connection::text(const std::string& sql) {
  Query query(*this, sql);
  return query.step() ? std::string(query.text(0)) : "";
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

sqlite3_stmt* Connection::prepare(const std::string& sql) {
  if (const auto it = statements_.find(sql); it != statements_.end()) return it->second;
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) fail(result, "prepare '" + sql.substr(0, 60) + "'");
  statements_.emplace(sql, statement);
  return statement;
}

Query::Query(Connection& connection, const std::string& sql)
    : connection_(connection), statement_(connection.prepare(sql)) {}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bind(std::int64_t value) {
  const int result = sqlite3_bind_int64(statement_, ++bound_, value);
  if (result != SQLITE_OK) connection_.fail(result, "bind a number");
  return *this;
}

Query& Query::bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  const int result =
      sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (result != SQLITE_OK) connection_.fail(result, "bind a text");
  return *this;
}

Query& Query::bind_null() {
  ++bound_;
  return *this;
}

bool Query::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  connection_.fail(result, fmt::format("run '{:.60}'", sqlite3_sql(statement_)));
}

void Query::run() {
  while (step()) {
  }
}

std::int64_t Query::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Query::text(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Transaction::Transaction(Connection& connection, Kind kind) : connection_(connection) {
  Query(connection, kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN").run();
}

Transaction::~Transaction() {
  if (!connection_.in_transaction()) return;
  try {
    Query(connection_, "ROLLBACK").run();
  } catch (const base::Error&) {  // SQLite has rolled back by itself, or will when it is opened
  }
}

void Transaction::commit() { Query(connection_, "COMMIT").run(); }

}  // namespace meridian::store
