// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/log.h"

namespace meridian::store {
namespace {

constexpr std::int64_t kApplication = 0x4d455249;  // "MERI": tells our files from others'

// Each takes the schema from its number (counted from 0) to the next. Never changed, only added to.
constexpr std::array kMigrations{
    R"sql(
      CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
      INSERT INTO meta VALUES ('revision', 0), ('trimmed', 0);
      CREATE TABLE documents (
        key TEXT PRIMARY KEY, revision INTEGER NOT NULL, created_revision INTEGER NOT NULL,
        fields BLOB NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE fields (
        field TEXT NOT NULL, value TEXT NOT NULL, key TEXT NOT NULL,
        PRIMARY KEY (field, value, key)) WITHOUT ROWID;
      CREATE TABLE changes (
        place INTEGER PRIMARY KEY, key TEXT NOT NULL, kind INTEGER NOT NULL,
        created_revision INTEGER NOT NULL,
        before_revision INTEGER NOT NULL, before_fields BLOB, before_body TEXT);
      CREATE INDEX changes_by_key ON changes (key, place);
    )sql",
    "CREATE TABLE tail (revision INTEGER PRIMARY KEY, changes BLOB NOT NULL)",
};

void refuse(const std::string& path, std::string why) {
  throw base::Error(base::Code::failed_precondition,
                    fmt::format("store {}: {}", path, std::move(why)));
}

// The schema's number; refuses what this program did not write or cannot read.
std::int64_t known_version(Connection& db) {
  const std::int64_t version = db.number("PRAGMA user_version");
  const std::int64_t application = db.number("PRAGMA application_id");
  const bool empty = db.number("SELECT count(*) FROM sqlite_master") == 0;
  if (!empty && application != kApplication) {
    refuse(db.path(), "this SQLite file belongs to another program; give another path");
  }
  if (version > static_cast<std::int64_t>(kMigrations.size())) {
    refuse(db.path(),
           fmt::format("a newer Meridian wrote it (schema {}; this one knows {}); use that "
                       "version, or restore a copy from before its upgrade",
                       version, kMigrations.size()));
  }
  return version;
}

void migrate(Connection& db, std::int64_t version) {
  const auto latest = static_cast<std::int64_t>(kMigrations.size());
  if (version == latest) return;
  Transaction transaction(db, Transaction::Kind::write);
  for (auto i = version; i < latest; ++i) db.execute(kMigrations[static_cast<std::size_t>(i)]);
  db.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplication, latest));
  transaction.commit();
  if (version > 0) {
    base::log_info(
        "store migrated",
        {{"path", db.path()}, {"from", std::to_string(version)}, {"to", std::to_string(latest)}});
  }
}

// Whether the last process that wrote here was killed: an orderly end leaves no log behind.
bool ended_badly(const std::string& path) {
  std::error_code absent;
  const auto size = std::filesystem::file_size(path + "-wal", absent);
  return !absent && size > 0;
}

// Reads the structure of the whole file: always when that is quick, and up to a second's worth
// after a bad end. Beyond that, damage shows as data_loss when its page is used.
void check_health(Connection& db, bool after_bad_end) {
  constexpr std::uintmax_t quick = 8u << 20, most = 256u << 20;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(db.path(), ignored);
  if (size > (after_bad_end ? most : quick)) return;
  const std::string verdict = db.text("PRAGMA quick_check(1)");
  if (verdict != "ok") {
    throw base::Error(base::Code::data_loss,
                      fmt::format("store {}: the file is damaged: {}; restore it from a copy",
                                  db.path(), verdict));
  }
}

}  // namespace

std::unique_ptr<Connection> open_writer(const SqliteSettings& settings) {
  const bool after_bad_end = ended_badly(settings.path);
  auto db = std::make_unique<Connection>(settings.path, Connection::Mode::create);
  const std::int64_t version = known_version(*db);
  // Until the first commit nothing is promised. That commit's sync takes along all before it.
  db->execute("PRAGMA synchronous = NORMAL");
  if (const auto mode = db->text("PRAGMA journal_mode = WAL"); mode != "wal") {
    refuse(settings.path, "this file system has no shared memory for SQLite's WAL mode");
  }
  db->execute("PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY");
  db->execute("PRAGMA journal_size_limit = 67108864");  // a WAL grown by a burst shrinks again
  migrate(*db, version);
  if (settings.sync == SqliteSettings::Sync::synced) db->execute("PRAGMA synchronous = FULL");
  check_health(*db, after_bad_end);
  if (settings.most_bytes > 0) {
    const auto pages =
        settings.most_bytes / static_cast<std::uint64_t>(db->number("PRAGMA page_size"));
    db->number(fmt::format("PRAGMA max_page_count = {}", pages));
  }
  return db;
}

std::unique_ptr<Connection> open_reader(const std::string& path) {
  auto db = std::make_unique<Connection>(path, Connection::Mode::read_only);
  db->execute("PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY");
  return db;
}

}  // namespace meridian::store
