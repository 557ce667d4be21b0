// One instant of a SQLite store: a read transaction. Private.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/hub.h"
#include "store/listing.h"
#include "store/sqlite.h"

namespace meridian::store {

class SqliteSnapshot final : public Snapshot {
 public:
  explicit SqliteSnapshot(Connection& db);
  Revision revision() override { return revision_; }
  Revision trimmed() override { return trimmed_; }
  std::vector<Document> scan(const Scan& scan, const Wanted& wanted) override;
  std::size_t count(const Scan& scan, std::size_t most) override;
  void roll_back(Revision revision, const std::string& prefix,
                 const std::function<void(Document)>& visit) override;

  // Error(failed_precondition) when the change log does not reach `after`.
  Batch changes(const std::string& prefix, Revision after);

 private:
  Document put_by(const std::string& key, std::int64_t place);

  Connection& db_;
  Transaction transaction_;
  Revision revision_ = 0, trimmed_ = 0;
};

std::optional<Document> find_document(Connection& db, const std::string& key);

}  // namespace meridian::store
