// Documents with revisions: the durable state of every owner (design D3).
//
// A document is a key, a body (JSON text) and a few indexed fields. Every commit gives its
// documents the next revision, under one writer, so revisions are a total order of commits.
//
// Promises, each with a contract test of that name that every back end passes:
//   1. Acknowledged means durable: after commit() returns, kill -9 at any instant loses nothing.
//   2. A transaction is all or nothing, and its preconditions hold at its commit.
//   3. A list is one instant: pages of one listing show one revision, whatever is written
//   meanwhile.
//   4. A watch from revision N sees every later change once, in order; what is too old says so.
//   5. Sixteen writers racing a watcher lose, repeat and reorder nothing.
//
//   auto r = store.commit({put("jobs/a", body, {.expect = Expect::absent})});
//
// Thread-safe. Blocking (commits of several threads share one fsync).
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
  std::string order_by;  // indexed field; empty = by key. Ties by key.
  enum class Order { ascending, descending } order = Order::ascending;
  std::size_t limit = 100;
  std::string token;  // of the page before; empty = the first page
};

struct Page {
  std::vector<Document> documents;
  std::string next_token;  // empty = the last page
  Revision revision = 0;   // the instant that the whole listing shows
};

struct Change {
  enum class Kind { put, remove } kind = Kind::put;
  Document document;  // for remove: the last body before it, revision = of the removal
};

// Changes below a prefix, from a revision on. Pulled; bounded.
class Watch {
 public:
  virtual ~Watch() = default;
  // The next changes in order (at least one), or empty at the deadline or once `stop` is requested.
  // Error(failed_precondition) "expired": the revision is older than the change log; list again.
  virtual std::vector<Change> wait_next(std::stop_token stop,
                                        std::chrono::milliseconds timeout) = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual CommitResult commit(std::vector<Write> writes) = 0;
  virtual std::optional<Document> find(const std::string& key) = 0;
  virtual Page list(const ListQuery& query) = 0;  // Error(invalid_argument) for a bad token
  virtual std::unique_ptr<Watch> watch(std::string prefix, Revision after) = 0;
  virtual Revision revision() = 0;  // of the last commit
};

struct SqliteSettings {
  std::string path;
  // synced: survives power loss. process: survives kill -9, not power loss (S3's setting).
  enum class Sync { synced, process } sync = Sync::synced;
  std::size_t change_log_entries = 200'000;
};

// Opens or creates; Error names the path (read-only directory, full disk, newer schema, damage).
std::unique_ptr<Store> open_sqlite(const SqliteSettings& settings);
// Same promises without a file. For tests and the simulator.
std::unique_ptr<Store> open_in_memory();

}  // namespace meridian::store
