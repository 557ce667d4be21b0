// The store in a SQLite file: one writer connection, a few readers, everything else in the parts.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "base/metrics.h"
#include "base/sync.h"
#include "store/group_commit.h"
#include "store/hub.h"
#include "store/listing.h"
#include "store/rules.h"
#include "store/schema.h"
#include "store/sqlite_snapshot.h"
#include "store/sqlite_writer.h"
#include "store/store.h"
#include "store/tail_snapshot.h"

namespace meridian::store {
namespace {

// Two processes on one file would each give out the same revisions.
base::UniqueFd lock_for_this_process(const std::string& path) {
  base::UniqueFd fd = base::open_file(path + ".lock", O_RDWR | O_CREAT, 0644);
  // A process that was killed a moment ago may still be on its way out.
  for (int attempt = 0; flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      throw base::errno_error(errno, "cannot lock " + path);
    if (attempt == 100) {
      throw base::Error(
          base::Code::failed_precondition,
          fmt::format("store {}: another process uses it; stop that one first", path));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fd;
}

// What operators watch: how much is written, how well it is grouped, how long the disk takes.
struct StoreMetrics {
  base::Counter& commits =
      base::metrics().counter("meridian_store_commits_total", "Commits acknowledged");
  base::Counter& conflicts = base::metrics().counter("meridian_store_conflicts_total",
                                                     "Commits whose precondition failed");
  base::Histogram& seconds = base::metrics().histogram(
      "meridian_store_group_seconds", "Time of one transaction with the commits of a group",
      {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3});
};

// Connections that read, opened when needed; a few are kept.
class Readers {
 public:
  explicit Readers(std::string path) : path_(std::move(path)) {}

  template <class F>
  auto with_one(F work) {
    std::unique_ptr<Connection> db = take();
    auto result = work(*db);
    give_back(std::move(db));  // after an Error it is closed instead
    return result;
  }

 private:
  static constexpr std::size_t kKept = 4;

  std::unique_ptr<Connection> take() {
    {
      auto idle = idle_.lock();
      if (!idle->empty()) {
        auto db = std::move(idle->back());
        idle->pop_back();
        return db;
      }
    }
    return open_reader(path_);
  }

  void give_back(std::unique_ptr<Connection> db) {
    auto idle = idle_.lock();
    if (idle->size() < kKept) idle->push_back(std::move(db));
  }

  std::string path_;
  base::Sync<std::vector<std::unique_ptr<Connection>>> idle_;
};

// The highest revision that a reader was shown. A commit can be read a moment before its writer
// tells the hub, and who was shown a revision may ask for a watch from it.
class Seen {
 public:
  Revision value() const { return value_; }
  void raise(Revision revision) {
    Revision known = value_;
    while (known < revision && !value_.compare_exchange_weak(known, revision)) {
    }
  }

 private:
  std::atomic<Revision> value_ = 0;
};

class SqliteStore final : public Store {
  template <class F>
  auto with_snapshot(F work) {
    TailView tail = tail_.view();  // before the tables: see TailSnapshot
    return readers_.with_one([&](Connection& db) {
      SqliteSnapshot tables(db);
      TailSnapshot snapshot(tables, std::move(tail));
      seen_.raise(snapshot.revision());
      return work(snapshot);
    });
  }

 public:
  explicit SqliteStore(const SqliteSettings& settings)
      : lock_(lock_for_this_process(settings.path)),
        writer_(open_writer(settings), settings, tail_),
        hub_(writer_.revision()),
        readers_(settings.path),
        group_([this](const std::vector<Pending*>& commits) { apply(commits); }) {}

  CommitResult commit(std::vector<Write> writes) override {
    check_writes(writes);
    return group_.commit(std::move(writes));
  }

  std::optional<Document> find(const std::string& key) override {
    std::optional<Document> found;
    // Who saw the tail go into the tables before memory knows of it must not be shown less now.
    if (const auto change = tail_.find(key, seen_.value())) {
      if (change->after) found = *change->after;
    } else {
      found = readers_.with_one([&](Connection& db) { return find_document(db, key); });
    }
    if (found) seen_.raise(found->revision);
    return found;
  }

  Page list(const ListQuery& query) override {
    return with_snapshot([&](TailSnapshot& snapshot) { return list_page(snapshot, query); });
  }

  std::unique_ptr<Watch> watch(std::string prefix, Revision after) override {
    return hub_.watch(std::move(prefix), after, revision(),
                      [this](const std::string& p, Revision from) { return read(p, from); });
  }

  Revision revision() override { return std::max(hub_.revision(), seen_.value()); }

 private:
  // A watch that keeps up reads what is in memory.
  Batch read(const std::string& prefix, Revision from) {
    if (auto batch = tail_.read(prefix, from)) {
      seen_.raise(batch->through);
      return std::move(*batch);
    }
    return with_snapshot([&](TailSnapshot& snapshot) { return snapshot.changes(prefix, from); });
  }

  // One caller at a time: GroupCommit sees to that.
  void apply(const std::vector<Pending*>& commits) {
    const auto start = std::chrono::steady_clock::now();
    writer_.apply(commits);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    metrics_.seconds.observe(time.count());
    for (const Pending* commit : commits) {
      (commit->result->ok() ? metrics_.commits : metrics_.conflicts).add();
      if (!commit->changed.empty()) hub_.publish(commit->result->value(), commit->changed);
    }
  }

  base::UniqueFd lock_;
  Tail tail_;
  SqliteWriter writer_;
  WatchHub hub_;
  Seen seen_;
  Readers readers_;
  StoreMetrics metrics_;
  GroupCommit group_;
};

}  // namespace

std::unique_ptr<Store> open_sqlite(const SqliteSettings& settings) {
  return base::while_doing("opening the store " + settings.path,
                           [&] { return std::make_unique<SqliteStore>(settings); });
}

}  // namespace meridian::store
