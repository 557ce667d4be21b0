// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_tables.h"

#include <algorithm>
#include <map>

#include "store/rules.h"
#include "store/schema.h"

namespace meridian::store {

SqliteTables::SqliteTables(Connection& db, std::size_t change_log_entries)
    : db_(db), most_log_entries_(std::max<std::size_t>(1, change_log_entries)) {
  log_entries_ = static_cast<std::size_t>(db_.number("SELECT count(*) FROM changes"));
}

void SqliteTables::write(const TailChanges& changes, Revision revision) {
  struct Ends {
    const Document* before = nullptr;
    const Document* after = nullptr;
  };
  std::map<std::string_view, Ends> documents;  // in key order, so that neighbours share a page
  std::int64_t place = 0;
  for (const auto& change : changes) {
    place = std::max(place + 1, first_place(change->revision));
    log_change(*change, place);
    auto [ends, is_new] = documents.try_emplace(change->key());
    if (is_new) ends->second.before = change->before.get();
    ends->second.after = change->after.get();
  }
  for (const auto& [key, ends] : documents) replace(ends.before, ends.after);
  Query(db_, "UPDATE meta SET value = ? WHERE name = 'revision'").bind(revision).run();
  log_entries_after_ = log_entries_ + changes.size();
  trim(changes.size());
}

void SqliteTables::log_change(const TailChange& change, std::int64_t place) {
  const auto kind = change.after ? Change::Kind::put : Change::Kind::remove;
  const Document* before = change.before.get();
  const std::string fields = before ? encode_fields(before->index) : "";
  Query query(db_,
              "INSERT INTO changes (place, key, kind, created_revision, before_revision, "
              "before_fields, before_body) VALUES (?, ?, ?, ?, ?, ?, ?)");
  query.bind(place).bind(change.key()).bind(static_cast<std::int64_t>(kind));
  query.bind(before ? before->created_revision : change.revision);
  query.bind(before ? before->revision : 0);
  if (before) query.bind(fields).bind(before->body);
  query.run();
}

void SqliteTables::replace(const Document* before, const Document* after) {
  if (!before && !after) return;  // it came and went
  const std::string& key = (after ? after : before)->key;
  change_fields(key, before ? before->index : IndexFields{}, after ? after->index : IndexFields{});
  if (!after) {
    Query(db_, "DELETE FROM documents WHERE key = ?").bind(key).run();
    return;
  }
  const std::string fields = encode_fields(after->index);
  Query(db_,
        "INSERT INTO documents (key, revision, created_revision, fields, body) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, "
        "created_revision = excluded.created_revision, fields = excluded.fields, "
        "body = excluded.body")
      .bind(key)
      .bind(after->revision)
      .bind(after->created_revision)
      .bind(fields)
      .bind(after->body)
      .run();
}

void SqliteTables::change_fields(const std::string& key, const IndexFields& before,
                                 const IndexFields& after) {
  const auto has = [](const IndexFields& fields, const auto& field) {
    const auto it = fields.find(field.first);
    return it != fields.end() && it->second == field.second;
  };
  for (const auto& field : before) {
    if (has(after, field)) continue;
    Query(db_, "DELETE FROM fields WHERE field = ? AND value = ? AND key = ?")
        .bind(field.first)
        .bind(field.second)
        .bind(key)
        .run();
  }
  for (const auto& field : after) {
    if (has(before, field)) continue;
    Query(db_, "INSERT INTO fields (field, value, key) VALUES (?, ?, ?)")
        .bind(field.first)
        .bind(field.second)
        .bind(key)
        .run();
  }
}

// A little each time, so that nobody waits long for it; at least as much as was added.
void SqliteTables::trim(std::size_t added) {
  constexpr std::size_t at_once = 1000;
  if (log_entries_after_ <= most_log_entries_) return;
  const std::size_t excess = log_entries_after_ - most_log_entries_;
  if (excess < most_log_entries_ / 100) return;  // not a delete for every commit
  const std::size_t cut = std::min(excess, std::max(at_once, 2 * added));
  Query last(db_, "SELECT place FROM changes ORDER BY place LIMIT 1 OFFSET ?");
  last.bind(static_cast<std::int64_t>(cut - 1));
  if (!last.step()) return;
  const std::int64_t place = last.number(0);
  Query(db_, "DELETE FROM changes WHERE place <= ?").bind(place).run();
  Query(db_, "UPDATE meta SET value = ? WHERE name = 'trimmed'").bind(revision_at(place)).run();
  log_entries_after_ -= cut;
}

}  // namespace meridian::store
