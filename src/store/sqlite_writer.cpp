// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_writer.h"

#include <algorithm>

#include "store/rules.h"
#include "store/schema.h"
#include "store/sqlite_snapshot.h"

namespace meridian::store {

SqliteWriter::SqliteWriter(std::unique_ptr<Connection> db, std::size_t change_log_entries)
    : db_(std::move(db)), most_log_entries_(std::max<std::size_t>(1, change_log_entries)) {
  state_.revision = db_->number("SELECT value FROM meta WHERE name = 'revision'");
  state_.log_entries = static_cast<std::size_t>(db_->number("SELECT count(*) FROM changes"));
}

void SqliteWriter::apply(const std::vector<Pending*>& commits) {
  State after = state_;
  Transaction transaction(*db_, Transaction::Kind::write);
  for (Pending* commit : commits) {
    if (auto failed = conflict(commit->writes)) {
      commit->result = std::move(*failed);
      continue;
    }
    std::int64_t place = first_place(after.revision + 1);
    for (const Write& write : commit->writes) {
      if (!change(write, place)) continue;
      ++place;
      commit->changed.push_back(write.key);
    }
    if (!commit->changed.empty()) ++after.revision;
    after.log_entries += commit->changed.size();
    commit->result = after.revision;
  }
  if (after.revision != state_.revision) {
    Query(*db_, "UPDATE meta SET value = ? WHERE name = 'revision'").bind(after.revision).run();
    trim(after, after.log_entries - state_.log_entries);
  }
  transaction.commit();
  state_ = after;
}

Revision SqliteWriter::revision_of(const std::string& key) {
  Query query(*db_, "SELECT revision FROM documents WHERE key = ?");
  query.bind(key);
  return query.step() ? query.number(0) : 0;
}

std::optional<Conflict> SqliteWriter::conflict(const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    if (!write.expect) continue;
    const Revision actual = revision_of(write.key);
    if (actual != *write.expect) return Conflict{write.key, *write.expect, actual};
  }
  return std::nullopt;
}

// Whether something changed.
bool SqliteWriter::change(const Write& write, std::int64_t place) {
  if (write.kind == Write::Kind::check) return false;
  const std::optional<Document> before = find_document(*db_, write.key);
  if (write.kind == Write::Kind::remove && !before) return false;
  log_change(write, place, before);
  change_fields(write.key, before ? before->index : IndexFields{},
                write.kind == Write::Kind::put ? write.index : IndexFields{});
  if (write.kind == Write::Kind::remove) {
    Query(*db_, "DELETE FROM documents WHERE key = ?").bind(write.key).run();
    return true;
  }
  const std::string fields = encode_fields(write.index);
  Query(*db_,
        "INSERT INTO documents (key, revision, created_revision, fields, body) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
        "revision = excluded.revision, fields = excluded.fields, body = excluded.body")
      .bind(write.key)
      .bind(revision_at(place))
      .bind(revision_at(place))
      .bind(fields)
      .bind(write.body)
      .run();
  return true;
}

void SqliteWriter::log_change(const Write& write, std::int64_t place,
                              const std::optional<Document>& before) {
  const auto kind = write.kind == Write::Kind::put ? Change::Kind::put : Change::Kind::remove;
  const std::string fields = before ? encode_fields(before->index) : "";
  Query query(*db_,
              "INSERT INTO changes (place, key, kind, created_revision, before_revision, "
              "before_fields, before_body) VALUES (?, ?, ?, ?, ?, ?, ?)");
  query.bind(place).bind(write.key).bind(static_cast<std::int64_t>(kind));
  query.bind(before ? before->created_revision : revision_at(place));
  query.bind(before ? before->revision : 0);
  if (before) query.bind(fields).bind(before->body);
  query.run();
}

void SqliteWriter::change_fields(const std::string& key, const IndexFields& before,
                                 const IndexFields& after) {
  const auto has = [](const IndexFields& fields, const auto& field) {
    const auto it = fields.find(field.first);
    return it != fields.end() && it->second == field.second;
  };
  for (const auto& field : before) {
    if (has(after, field)) continue;
    Query(*db_, "DELETE FROM fields WHERE field = ? AND value = ? AND key = ?")
        .bind(field.first)
        .bind(field.second)
        .bind(key)
        .run();
  }
  for (const auto& field : after) {
    if (has(before, field)) continue;
    Query(*db_, "INSERT INTO fields (field, value, key) VALUES (?, ?, ?)")
        .bind(field.first)
        .bind(field.second)
        .bind(key)
        .run();
  }
}

// A little at each commit, so that none waits long for it; at least as much as was added.
void SqliteWriter::trim(State& state, std::size_t added) {
  constexpr std::size_t at_once = 1000;
  if (state.log_entries <= most_log_entries_) return;
  const std::size_t excess = state.log_entries - most_log_entries_;
  if (excess < most_log_entries_ / 100) return;  // not a delete for every commit
  const std::size_t cut = std::min(excess, std::max(at_once, 2 * added));
  Query last(*db_, "SELECT place FROM changes ORDER BY place LIMIT 1 OFFSET ?");
  last.bind(static_cast<std::int64_t>(cut - 1));
  if (!last.step()) return;
  const std::int64_t place = last.number(0);
  Query(*db_, "DELETE FROM changes WHERE place <= ?").bind(place).run();
  Query(*db_, "UPDATE meta SET value = ? WHERE name = 'trimmed'").bind(revision_at(place)).run();
  state.log_entries -= cut;
}

}  // namespace meridian::store
