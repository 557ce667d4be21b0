// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_writer.h"

#include <algorithm>

#include "store/rules.h"
#include "store/schema.h"
#include "store/sqlite_snapshot.h"

namespace meridian::store {
namespace {

constexpr std::size_t kMostTailBytes = 1u << 20;

}  // namespace

SqliteWriter::SqliteWriter(std::unique_ptr<Connection> db, const SqliteSettings& settings,
                           Tail& tail)
    : db_(std::move(db)),
      tail_(tail),
      tables_(*db_, settings.change_log_entries),
      // A short change log must not be much longer for what the tail has of it.
      most_changes_(std::min(settings.tail_changes, settings.change_log_entries / 10)) {
  revision_ = db_->number("SELECT value FROM meta WHERE name = 'revision'");
  tail_.start(revision_);
  load_tail();
}

SqliteWriter::~SqliteWriter() {
  if (tail_.size() == 0) return;
  try {
    Transaction transaction(*db_, Transaction::Kind::write);
    write_tables({}, revision_);
    transaction.commit();
  } catch (const base::Error&) {  // it stays where it is, as durable as before
  }
}

void SqliteWriter::load_tail() {
  Query rows(*db_, "SELECT revision, changes FROM tail ORDER BY revision");
  while (rows.step()) {
    const Revision revision = rows.number(0);
    Group group{.revision = revision};
    for (StoredChange& stored : decode_changes(rows.text(1), revision)) {
      const Found before = present(group, stored.document.key);
      Found after;
      if (stored.kind == Change::Kind::put)
        after = std::make_shared<const Document>(std::move(stored.document));
      else if (!before)
        continue;
      group.changes.push_back(
          std::make_shared<const TailChange>(TailChange{revision, before, std::move(after)}));
    }
    tail_.add(group.changes);
    revision_ = revision;
  }
}

void SqliteWriter::apply(const std::vector<Pending*>& commits) {
  Group group{.revision = revision_};
  Transaction transaction(*db_, Transaction::Kind::write);
  for (Pending* commit : commits) {
    if (auto failed = conflict(group, commit->writes)) {
      commit->result = std::move(*failed);
      continue;
    }
    change(group, *commit);
    commit->result = group.revision;
  }
  if (group.changes.empty()) return;
  const bool fills = fills_tail(group);
  if (fills) {
    write_tables(group.changes, group.revision);
    transaction.commit();
    tables_.committed();
    tail_.start(group.revision);
  } else {
    write_rows(group.changes);
    transaction.commit();
    tail_.add(group.changes);
  }
  revision_ = group.revision;
}

const SqliteWriter::Found& SqliteWriter::present(Group& group, const std::string& key) {
  const auto [known, is_new] = group.known.try_emplace(key);
  if (!is_new) return known->second;
  if (const auto change = tail_.find(key)) {
    known->second = change->after;
  } else if (auto document = find_document(*db_, key)) {
    known->second = std::make_shared<const Document>(std::move(*document));
  }
  return known->second;
}

std::optional<Conflict> SqliteWriter::conflict(Group& group, const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    if (!write.expect) continue;
    const Found& found = present(group, write.key);
    const Revision actual = found ? found->revision : 0;
    if (actual != *write.expect) return Conflict{write.key, *write.expect, actual};
  }
  return std::nullopt;
}

void SqliteWriter::change(Group& group, Pending& commit) {
  const Revision next = group.revision + 1;
  for (Write& write : commit.writes) {
    if (write.kind == Write::Kind::check) continue;
    const Found before = present(group, write.key);
    Found after;
    if (write.kind == Write::Kind::put) {
      after = std::make_shared<const Document>(
          Document{.key = write.key,
                   .revision = next,
                   .created_revision = before ? before->created_revision : next,
                   .body = std::move(write.body),
                   .index = std::move(write.index)});
    } else if (!before) {
      continue;
    }
    group.known[write.key] = after;
    commit.changed.push_back(write.key);
    group.changes.push_back(
        std::make_shared<const TailChange>(TailChange{next, before, std::move(after)}));
  }
  if (!commit.changed.empty()) group.revision = next;
}

bool SqliteWriter::fills_tail(const Group& group) const {
  if (tail_.size() + group.changes.size() > most_changes_) return true;
  std::size_t bytes = tail_.bytes();
  for (const auto& change : group.changes) bytes += change->after ? change->after->body.size() : 0;
  return bytes > kMostTailBytes;
}

void SqliteWriter::write_rows(const TailChanges& changes) {
  for (auto first = changes.begin(); first != changes.end();) {
    const Revision revision = (*first)->revision;
    const auto last = std::find_if(
        first, changes.end(), [&](const auto& change) { return change->revision != revision; });
    const std::string row = encode_changes({first, last});
    Query(*db_, "INSERT INTO tail (revision, changes) VALUES (?, ?)")
        .bind(revision)
        .bind(row)
        .run();
    first = last;
  }
}

void SqliteWriter::write_tables(const TailChanges& added, Revision revision) {
  TailChanges all = tail_.view().changes;
  if (!all.empty()) Query(*db_, "DELETE FROM tail").run();
  all.insert(all.end(), added.begin(), added.end());
  tables_.write(all, revision);
}

}  // namespace meridian::store
