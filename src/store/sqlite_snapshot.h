// One instant of the tables of a SQLite store: a read transaction. Private.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/hub.h"
#include "store/listing.h"
#include "store/sqlite.h"

namespace meridian::store {

class SqliteSnapshot {
 public:
  explicit SqliteSnapshot(Connection& db);
  Revision revision() const { return revision_; }
  Revision trimmed() const { return trimmed_; }
  // As Snapshot has them.
  std::vector<Document> scan(const Scan& scan, const Wanted& wanted);
  std::size_t count(const Scan& scan, std::size_t most);
  // Returns the keys that changed, also those that did not exist then.
  std::set<std::string, std::less<>> roll_back(Revision revision, const std::string& prefix,
                                               const std::function<void(Document)>& visit);

  // Error(failed_precondition) when the change log does not reach `after`.
  Batch changes(const std::string& prefix, Revision after);

 private:
  Document put_by(const std::string& key, std::int64_t place);

  Connection& db_;
  Transaction transaction_;
  Revision revision_ = 0, trimmed_ = 0;
};

// In the tables.
std::optional<Document> find_document(Connection& db, const std::string& key);

}  // namespace meridian::store
