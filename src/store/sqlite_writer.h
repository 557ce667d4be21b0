// Applies groups of commits to a SQLite store, one transaction each, and trims the change log.
// Private. One thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "store/group_commit.h"
#include "store/sqlite.h"

namespace meridian::store {

class SqliteWriter {
 public:
  SqliteWriter(std::unique_ptr<Connection> db, std::size_t change_log_entries);

  Revision revision() const { return state_.revision; }
  // A commit whose precondition fails changes nothing and disturbs no other. An Error (full disk)
  // undoes the whole group.
  void apply(const std::vector<Pending*>& commits);

 private:
  struct State {
    Revision revision = 0;
    std::size_t log_entries = 0;
  };
  std::optional<Conflict> conflict(const std::vector<Write>& writes);
  Revision revision_of(const std::string& key);
  bool change(const Write& write, std::int64_t place);
  void log_change(const Write& write, std::int64_t place, const std::optional<Document>& before);
  void change_fields(const std::string& key, const IndexFields& before, const IndexFields& after);
  void trim(State& state, std::size_t added);

  std::unique_ptr<Connection> db_;
  const std::size_t most_log_entries_;
  State state_;
};

}  // namespace meridian::store
