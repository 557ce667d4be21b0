// What only a file can do wrong.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/metrics.h"
#include "store/contract.h"
#include "store/schema.h"
#include "store/sqlite.h"

namespace meridian::store {
namespace {

using base::Code;
using testing::HasSubstr;

class SqliteStoreTest : public testing::Test {
 protected:
  base::TempDir directory;
  std::string path = (directory.path() / "s.db").string();
  SqliteSettings settings{.path = path, .sync = SqliteSettings::Sync::process};

  base::Error error_of_open(const SqliteSettings& wanted) {
    try {
      open_sqlite(wanted);
    } catch (const base::Error& error) {
      return error;
    }
    ADD_FAILURE() << "the store opened";
    return base::Error(Code::internal, "");
  }
  base::Error error_of_open() { return error_of_open(settings); }

  // Other programs' SQL on the file.
  void execute(const std::string& sql) { Connection(path, Connection::Mode::create).execute(sql); }
};

TEST_F(SqliteStoreTest, ANewerSchemaIsRefusedAndLeftAlone) {
  (void)open_sqlite(settings)->commit({put("a", "1")});
  const auto version = Connection(path, Connection::Mode::existing).text("PRAGMA user_version");
  execute("PRAGMA user_version = 999");
  const base::Error error = error_of_open();
  EXPECT_EQ(error.code(), Code::failed_precondition);
  EXPECT_THAT(error.what(), HasSubstr(path));
  EXPECT_THAT(error.what(), HasSubstr("newer Meridian"));
  execute("PRAGMA user_version = " + version);
  EXPECT_TRUE(open_sqlite(settings)->find("a"));
}

TEST_F(SqliteStoreTest, AStoreOfTheFirstReleaseIsMigrated) {
  (void)open_sqlite(settings)->commit({put("a", "1")});
  execute("DROP TABLE tail; PRAGMA user_version = 1");
  const auto store = open_sqlite(settings);
  EXPECT_TRUE(store->find("a"));
  EXPECT_EQ(*store->commit({put("a", "2")}), 2);
}

TEST_F(SqliteStoreTest, TheTailIsShortAndAnOrderlyEndLeavesNone) {
  settings.tail_changes = 10;
  {
    const auto store = open_sqlite(settings);
    for (int i = 0; i < 105; ++i) (void)store->commit({put("k" + std::to_string(i % 7), "x")});
    Connection db(path, Connection::Mode::read_only);
    EXPECT_LE(db.number("SELECT count(*) FROM tail"), 10);
    EXPECT_GT(db.number("SELECT count(*) FROM tail"), 0);
    EXPECT_EQ(store->revision(), 105);
  }
  Connection db(path, Connection::Mode::read_only);
  EXPECT_EQ(db.number("SELECT count(*) FROM tail"), 0);
  EXPECT_EQ(db.number("SELECT value FROM meta WHERE name = 'revision'"), 105);
}

// A copy of the files while the store is open is what a kill leaves.
TEST_F(SqliteStoreTest, WhatIsInTheTailSurvivesAKill) {
  base::TempDir copy;
  const std::string copied = (copy.path() / "s.db").string();
  {
    const auto store = open_sqlite(settings);
    (void)store->commit({put("a", "1", {{"f", "x"}}), put("b", "1")});
    (void)store->commit({put("a", "2", {{"f", "y"}}), remove("b")});
    (void)store->commit({remove("never"), put("c", "1")});
    for (const char* end : {"", "-wal"}) std::filesystem::copy_file(path + end, copied + end);
  }
  const auto store = open_sqlite({.path = copied});
  EXPECT_EQ(store->revision(), 3);
  EXPECT_EQ(store->find("a")->body, "2");
  EXPECT_EQ(store->find("a")->created_revision, 1);
  EXPECT_FALSE(store->find("b"));
  EXPECT_EQ(keys_of(list_all(*store, {.equals = {{"f", "y"}}})), std::vector<std::string>{"a"});
  EXPECT_EQ(store->watch("", 0)->wait_next({}, std::chrono::seconds(10)).size(), 5u);
}

TEST_F(SqliteStoreTest, AnotherProgramsFileIsRefusedAndLeftAlone) {
  execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  EXPECT_EQ(error_of_open().code(), Code::failed_precondition);
  EXPECT_EQ(Connection(path, Connection::Mode::existing).number("SELECT x FROM t"), 1);
}

TEST_F(SqliteStoreTest, WhatIsNoDatabaseIsDataLoss) {
  std::ofstream(path) << std::string(5000, 'x');
  const base::Error error = error_of_open();
  EXPECT_EQ(error.code(), Code::data_loss);
  EXPECT_THAT(error.what(), HasSubstr(path));
}

TEST_F(SqliteStoreTest, ADamagedFileIsDataLoss) {
  {
    const auto store = open_sqlite(settings);
    for (int i = 0; i < 200; ++i) {
      (void)store->commit({put("k" + std::to_string(i), std::string(500, 'b'))});
    }
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (int page = 3; page < 20; ++page) {
    file.seekp(page * 4096);
    file << std::string(2000, '\x5a');
  }
  file.close();
  EXPECT_EQ(error_of_open().code(), Code::data_loss);
}

TEST_F(SqliteStoreTest, AMissingDirectoryIsNamed) {
  const base::Error error = error_of_open({.path = path + "/nowhere/s.db"});
  EXPECT_EQ(error.code(), Code::not_found);
  EXPECT_THAT(error.what(), HasSubstr(path + "/nowhere"));
}

TEST_F(SqliteStoreTest, ADirectoryThatCannotBeWrittenIsNamed) {
  // For root, permission bits are no obstacle; /proc is one for everyone.
  std::string where = "/proc/meridian-test.db";
  if (geteuid() != 0) {
    where = (directory.path() / "closed").string();
    mkdir(where.c_str(), 0500);
    where += "/s.db";
  }
  const base::Error error = error_of_open({.path = where});
  EXPECT_THAT(error.what(), HasSubstr(where));
  EXPECT_TRUE(error.code() == Code::permission_denied || error.code() == Code::not_found);
}

TEST_F(SqliteStoreTest, ASecondProcessIsKeptOut) {
  const auto store = open_sqlite(settings);
  const base::Error error = error_of_open();  // the lock is per opening, so this one stands for it
  EXPECT_EQ(error.code(), Code::failed_precondition);
  EXPECT_THAT(error.what(), HasSubstr("another process"));
}

TEST_F(SqliteStoreTest, AFullDiskFailsTheCommitAndNothingElse) {
  settings.most_bytes = 400'000;
  auto store = open_sqlite(settings);
  int written = 0;
  std::optional<base::Error> failure;
  try {
    for (; written < 1000; ++written) {
      (void)store->commit({put("k" + std::to_string(written), std::string(3000, 'b')),
                           put("second" + std::to_string(written), "")});
    }
  } catch (const base::Error& error) {
    failure = error;
  }
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), Code::resource_exhausted);
  EXPECT_TRUE(failure->retryable());
  EXPECT_THAT(failure->what(), HasSubstr(path));
  EXPECT_GT(written, 10);
  EXPECT_EQ(store->revision(), written);
  EXPECT_EQ(list_all(*store, {}).size(), 2u * written);
  EXPECT_FALSE(store->find("second" + std::to_string(written)));
  store.reset();
  settings.most_bytes = 0;  // space was freed
  EXPECT_EQ(*open_sqlite(settings)->commit({put("k0", "")}), written + 1);
}

TEST_F(SqliteStoreTest, AGroupThatFailsTellsEveryCaller) {
  settings.most_bytes = 200'000;
  const auto store = open_sqlite(settings);
  std::atomic<int> failed = 0, accepted = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        try {
          const std::string key = std::to_string(t) + "/" + std::to_string(i);
          if (store->commit({put(key, std::string(3000, 'b'))}).ok()) ++accepted;
        } catch (base::Error& error) {
          error.add_note("adding a note of its own");  // each caller has its own copy
          ++failed;
        }
      }
    });
  }
  threads.clear();
  EXPECT_GT(failed, 0);
  EXPECT_EQ(failed + accepted, 160);
  EXPECT_EQ(list_all(*store, {}).size(), static_cast<std::size_t>(accepted));
}

TEST_F(SqliteStoreTest, TheChangeLogStaysWithinItsLimit) {
  settings.change_log_entries = 50;
  const auto store = open_sqlite(settings);
  for (int i = 0; i < 300; ++i) (void)store->commit({put("k" + std::to_string(i % 7), "x")});
  Connection db(path, Connection::Mode::read_only);
  EXPECT_EQ(db.number("SELECT count(*) FROM changes"), 50);
  EXPECT_EQ(db.number("SELECT value FROM meta WHERE name = 'trimmed'"), 250);
}

TEST_F(SqliteStoreTest, CommitsAndConflictsAreCounted) {
  const auto store = open_sqlite(settings);
  const auto value = [](const std::string& name) {
    const std::string page = base::metrics().page();
    const auto at = page.find("\n" + name + " ");
    return std::stod(page.substr(at + name.size() + 2));
  };
  const double commits = value("meridian_store_commits_total");
  const double conflicts = value("meridian_store_conflicts_total");
  (void)store->commit({put("a", "1", {}, 0)});
  (void)store->commit({put("a", "1", {}, 0)});
  EXPECT_EQ(value("meridian_store_commits_total"), commits + 1);
  EXPECT_EQ(value("meridian_store_conflicts_total"), conflicts + 1);
}

TEST_F(SqliteStoreTest, ListingsSeekInsteadOfScanning) {
  (void)open_sqlite(settings);
  Connection db(path, Connection::Mode::read_only);
  Query plan(db,
             "EXPLAIN QUERY PLAN SELECT d.key FROM fields f CROSS JOIN documents d ON d.key = "
             "f.key WHERE f.field = 'n' AND (f.value, f.key) > ('a', 'b') ORDER BY f.value, f.key");
  std::string steps;
  while (plan.step()) steps += std::string(plan.text(3)) + "; ";
  EXPECT_THAT(steps, HasSubstr("SEARCH f USING PRIMARY KEY (field=? AND (value,key)>(?,?))"));
  EXPECT_THAT(steps, testing::Not(HasSubstr("TEMP B-TREE")));
}

}  // namespace
}  // namespace meridian::store
