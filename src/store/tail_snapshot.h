// One instant of a SQLite store with its tail: what is in the tables, as the tail changed it.
// Private.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "store/sqlite_snapshot.h"
#include "store/tail.h"

namespace meridian::store {

class TailSnapshot final : public Snapshot {
 public:
  // `tail` was taken before the tables' instant began; what of it is in the tables by then counts
  // once.
  TailSnapshot(SqliteSnapshot& tables, TailView tail);

  Revision revision() override { return tail_.revision; }
  Revision trimmed() override { return tables_.trimmed(); }
  std::vector<Document> scan(const Scan& scan, const Wanted& wanted) override;
  std::size_t count(const Scan& scan, std::size_t most) override;
  void roll_back(Revision revision, const std::string& prefix,
                 const std::function<void(Document)>& visit) override;
  // Error(failed_precondition) when the change log does not reach `after`.
  Batch changes(const std::string& prefix, Revision after);

 private:
  SqliteSnapshot& tables_;
  TailView tail_;
  std::map<std::string_view, const TailChange*> last_;  // by key
};

}  // namespace meridian::store
