// Documents with revisions: the durable state of every owner (design D3).
//
// A document is a key, a body (JSON text) and a few indexed fields. Every commit that changes
// something gives all its documents the next revision, under one writer, so revisions are a total
// order of commits.
//
// Promises, each with a contract test of that name that every back end passes:
//   1. Acknowledged means durable: after commit() returns, kill -9 at any instant loses nothing.
//   2. A transaction is all or nothing, and its preconditions hold at its commit.
//   3. A list is one instant: pages of one listing show one revision, whatever is written
//   meanwhile.
//   4. A watch from revision N sees every later change once, in order; what is too old says so.
//   5. Sixteen writers racing a watcher lose, repeat and reorder nothing.
//
//   auto r = store.commit({put("jobs/a", body, {{"state", "Starting"}}, 0)});  // 0: must be new
//   if (!r) return already_exists(r.error().key);
//
// Thread-safe. Blocking (commits of several threads share one fsync). Keys are not empty and at
// most 4 KiB, a commit holds at most 100,000 writes and no two of one key (a check beside a write
// is fine): anything else is Error(invalid_argument).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"

namespace meridian::store {

using Revision = std::int64_t;  // 0 = never written

// Indexed fields: name → value, compared as bytes. Numbers are stored so that they sort
// (index_number).
using IndexFields = std::map<std::string, std::string>;
std::string index_number(std::int64_t value);  // fixed width, sorts like the number

struct Document {
  std::string key;
  Revision revision = 0;          // of its last change
  Revision created_revision = 0;  // of its creation
  std::string body;
  IndexFields index;
};

struct Write {
  enum class Kind { put, remove, check } kind = Kind::put;
  std::string key;
  std::string body;
  IndexFields index;
  // Nothing: no precondition. 0: must not exist. N: must be at exactly this revision.
  std::optional<Revision> expect;
};

Write put(std::string key, std::string body, IndexFields index = {},
          std::optional<Revision> expect = std::nullopt);
Write remove(std::string key, std::optional<Revision> expect = std::nullopt);
Write check(std::string key, Revision expect);  // only the precondition

// Which precondition failed.
struct Conflict {
  std::string key;
  Revision expected = 0;
  Revision actual = 0;  // 0 = absent
};
using CommitResult = base::Result<Revision, Conflict>;

struct ListQuery {
  std::string prefix;                         // of the key
  std::string start_after;                    // keys greater than this only; empty = no bound
  std::map<std::string, std::string> equals;  // indexed field = value, all must hold
  struct Range {
    std::string field;
    std::optional<std::string> at_least, below;
  };
  std::vector<Range> ranges;
  // Indexed field; empty = by key. Documents without it are left out. Ties by key, in the same
  // direction.
  std::string order_by;
  enum class Order { ascending, descending } order = Order::ascending;
  std::size_t limit = 100;
  // The instant to show, as an earlier page's or change's revision told it; 0 = the present. With
  // start_after, a listing can go on from any document instead of from a token.
  Revision at = 0;
  std::string token;  // of the page before; empty = the first page
};

struct Page {
  std::vector<Document> documents;
  std::string next_token;  // empty = the last page
  Revision revision = 0;   // the instant that the whole listing shows
};

struct Change {
  enum class Kind { put, remove } kind = Kind::put;
  Document document;               // for remove: the last body before it, revision = of the removal
  std::optional<Document> before;  // what it replaced or removed; nothing when it is new
};

// Changes below a prefix, from a revision on. Pulled; bounded. Used by one thread at a time, and
// not after its store.
class Watch {
 public:
  virtual ~Watch() = default;
  // The next changes in order (at least one), or empty at the deadline or once `stop` is requested.
  // A commit's changes always come together, so a reader that resumes does so from the revision of
  // the last batch. Error(failed_precondition) "expired": the revision is older than the change
  // log; list again.
  virtual std::vector<Change> wait_next(std::stop_token stop,
                                        std::chrono::milliseconds timeout) = 0;
  // Every change of the prefix up to this revision has been returned: a bookmark to resume from.
  virtual Revision position() const = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  // The commit's revision; that of the last commit when nothing changed (only checks, or removals
  // of what is not there). Preconditions are those of the state before the commit.
  virtual CommitResult commit(std::vector<Write> writes) = 0;
  virtual std::optional<Document> find(const std::string& key) = 0;
  // Error(invalid_argument): a token of another query, or none of ours; a revision still to come.
  // Error(failed_precondition) "expired": the listing began before the change log; begin again.
  virtual Page list(const ListQuery& query) = 0;
  // Error(failed_precondition) "expired" also for a revision that is still to come.
  virtual std::unique_ptr<Watch> watch(std::string prefix, Revision after) = 0;
  virtual Revision revision() = 0;  // of the last commit
};

struct SqliteSettings {
  std::string path;
  // synced: survives power loss. process: survives kill -9, not power loss (S3's setting).
  enum class Sync { synced, process } sync = Sync::synced;
  std::size_t change_log_entries = 200'000;  // changes that watches and listings can go back
  std::uint64_t most_bytes = 0;              // of the file; commits past it fail. 0 = no limit
  std::size_t tail_changes = 128;            // that wait for their tables (tail.h)
};

// Opens or creates; Error names the path (read-only directory, full disk, newer schema, damage, in
// use by another process).
std::unique_ptr<Store> open_sqlite(const SqliteSettings& settings);
// Same promises without a file. For tests and the simulator.
std::unique_ptr<Store> open_in_memory(std::size_t change_log_entries = 200'000);

}  // namespace meridian::store
