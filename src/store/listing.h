// How a page of a listing is made, the same for every back end. Private to this folder.
//
// The first page shows the present revision R and its token carries R. A later page, read when the
// store is at C > R, shows R too: documents changed since R are left out, and the change log gives
// back what they were at R. So a listing costs nothing while it is idle, holds no snapshot open,
// and expires only when the change log no longer reaches R.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace meridian::store {

// A walk over documents in order: of one indexed field (value, then key), or of the keys.
struct Scan {
  using Position = std::pair<std::string, std::string>;  // value ("" in key order), key
  std::string field;                                     // empty: by key
  std::optional<std::string> equal;                      // of the field
  std::optional<std::string> at_least, below;            // of the field
  std::string prefix;                                    // of the key
  std::string start_after;                               // keys greater than this only
  std::optional<Position> after;  // strictly behind this position, in the direction
  ListQuery::Order order = ListQuery::Order::ascending;
  std::size_t limit = 0;  // of documents returned
};

using Wanted = std::function<bool(const std::string& key, Revision, const IndexFields&)>;

// One instant of a store.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  virtual Revision revision() = 0;
  virtual Revision trimmed() = 0;  // the change log has all changes after this revision
  virtual std::vector<Document> scan(const Scan& scan, const Wanted& wanted) = 0;
  // How many documents a scan would walk over, counted up to `most`.
  virtual std::size_t count(const Scan& scan, std::size_t most) = 0;
  // Each document below `prefix` that changed after `revision`, as it was at `revision`, if it was.
  virtual void roll_back(Revision revision, const std::string& prefix,
                         const std::function<void(Document)>& visit) = 0;
};

Page list_page(Snapshot& snapshot, const ListQuery& query);

}  // namespace meridian::store
