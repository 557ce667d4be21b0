// A thin wrapper of SQLite: connections, cached statements, transactions, errors with the path.
// For this folder and for files of SQLite that are no stores (fleet's catalog). One thread at a
// time per connection.
//
//   Query query(connection, "SELECT body FROM documents WHERE key = ?");
//   query.bind(key);
//   if (query.step()) use(query.text(0));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace meridian::store {

class Connection {
 public:
  enum class Mode { create, existing, read_only };
  // Error names the path and what is wrong with it.
  Connection(const std::string& path, Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;

  void execute(const std::string& statements);
  std::int64_t number(const std::string& query);  // first column of its only row
  std::string text(const std::string& query);
  bool in_transaction() const;
  const std::string& path() const { return path_; }

  // Throws the Error for SQLite's last failure: data_loss for damage, resource_exhausted for a full
  // disk, permission_denied, unavailable when busy.
  [[noreturn]] void fail(int result, std::string_view doing) const;

 private:
  friend class Query;
  sqlite3_stmt* prepare(const std::string& sql);

  std::string path_;
  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// One run of a statement; the connection keeps the statement itself for the next.
class Query {
 public:
  Query(Connection& connection, const std::string& sql);
  ~Query();
  Query(const Query&) = delete;

  // The next parameter. The bytes must live until the query is done.
  Query& bind(std::int64_t value);
  Query& bind(std::string_view text);
  Query& bind_null();

  bool step();  // whether there is a row
  void run();   // to the end, without a look at rows

  std::int64_t number(int column) const;
  std::string_view text(int column) const;  // valid until the next step

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// Rolls back unless committed.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(Connection& connection, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
};

}  // namespace meridian::store
