// The last changes of a SQLite store: durable, but not in their tables yet. Private.
//
// A commit writes what it changes as one row of the table `tail`, which costs a page or two where
// the tables would cost a dozen; readers see the tables and the tail together. Once the tail is
// long enough, the group that fills it writes all of it into the tables in its own transaction:
// many documents then share a page, and one that changed often is written once.
//
// Rows and memory hold the same: memory is changed after the transaction, and read back from the
// rows when the file is opened.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/sync.h"
#include "store/hub.h"
#include "store/store.h"

namespace meridian::store {

struct TailChange {
  Revision revision = 0;
  std::shared_ptr<const Document> before, after;  // nothing: it was new; it was removed

  const std::string& key() const { return (after ? after : before)->key; }
  Change told() const;  // as a watch tells it
};

using TailChanges = std::vector<std::shared_ptr<const TailChange>>;

// One instant: all changes after `base` up to `revision`, in order.
struct TailView {
  Revision base = 0, revision = 0;
  TailChanges changes;
};

// Adds the changes after `after` below the prefix; `through` and `complete` as for the whole view.
void add_to_batch(Batch& batch, const TailView& view, const std::string& prefix, Revision after);

// Thread-safe; one thread at a time changes it.
class Tail {
 public:
  // The tables hold everything up to `base`.
  void start(Revision base);
  void add(const TailChanges& changes);  // of later revisions than all before

  std::size_t size() const;
  std::size_t bytes() const;  // of the documents
  TailView view() const;
  // The key's last change as of a revision that the tail reaches; nothing: the tables have it as it
  // is, or the tail does not reach so far.
  std::shared_ptr<const TailChange> find(std::string_view key, Revision reaching = 0) const;
  // What a watch reads; nothing when it must begin in the tables.
  std::optional<Batch> read(const std::string& prefix, Revision after) const;

 private:
  struct State {
    TailView view;
    std::size_t bytes = 0;
    // Keys are those of the documents.
    std::unordered_map<std::string_view, std::shared_ptr<const TailChange>> last;
  };
  base::Sync<State> state_;
};

// A commit's row. What a change replaced is not in it.
std::string encode_changes(std::span<const std::shared_ptr<const TailChange>> changes);
struct StoredChange {
  Change::Kind kind = Change::Kind::put;
  Document document;  // remove: only the key
};
std::vector<StoredChange> decode_changes(std::string_view row, Revision revision);  // data_loss

}  // namespace meridian::store
