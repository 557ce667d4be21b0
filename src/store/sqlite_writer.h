// Applies groups of commits to a SQLite store, one transaction each: to the tail, or, when that is
// full, with it to the tables. Private. One thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/group_commit.h"
#include "store/sqlite.h"
#include "store/sqlite_tables.h"
#include "store/tail.h"

namespace meridian::store {

class SqliteWriter {
 public:
  // Reads the tail back that the last process left.
  SqliteWriter(std::unique_ptr<Connection> db, const SqliteSettings& settings, Tail& tail);
  ~SqliteWriter();  // leaves no tail where it can

  Revision revision() const { return revision_; }
  // A commit whose precondition fails changes nothing and disturbs no other. An Error (full disk)
  // undoes the whole group.
  void apply(const std::vector<Pending*>& commits);

 private:
  using Found = std::shared_ptr<const Document>;  // nothing: there is none
  struct Group {
    Revision revision = 0;
    TailChanges changes;
    std::unordered_map<std::string, Found> known;  // documents as the group has them so far
  };
  void load_tail();
  const Found& present(Group& group, const std::string& key);
  std::optional<Conflict> conflict(Group& group, const std::vector<Write>& writes);
  void change(Group& group, Pending& commit);
  bool fills_tail(const Group& group) const;
  void write_rows(const TailChanges& changes);
  void write_tables(const TailChanges& added, Revision revision);

  std::unique_ptr<Connection> db_;
  Tail& tail_;
  SqliteTables tables_;
  const std::size_t most_changes_;
  Revision revision_ = 0;
};

}  // namespace meridian::store
