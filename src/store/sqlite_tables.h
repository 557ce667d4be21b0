// Writes changes into the tables of a SQLite store, and trims the change log. Private.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "store/sqlite.h"
#include "store/tail.h"

namespace meridian::store {

class SqliteTables {
 public:
  SqliteTables(Connection& db, std::size_t change_log_entries);

  // The next changes, which end at `revision`; inside the caller's transaction.
  void write(const TailChanges& changes, Revision revision);
  void committed() { log_entries_ = log_entries_after_; }  // that transaction

 private:
  void log_change(const TailChange& change, std::int64_t place);
  void replace(const Document* before, const Document* after);
  void change_fields(const std::string& key, const IndexFields& before, const IndexFields& after);
  void trim(std::size_t added);

  Connection& db_;
  const std::size_t most_log_entries_;
  std::size_t log_entries_ = 0, log_entries_after_ = 0;
};

}  // namespace meridian::store
