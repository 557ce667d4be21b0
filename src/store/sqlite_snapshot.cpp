// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "store/rules.h"
#include "store/schema.h"

namespace meridian::store {
namespace {

// Conditions with their values, in the order of the question marks.
class Conditions {
 public:
  void add(std::string_view condition, std::string value) {
    text_ += text_.empty() ? " WHERE " : " AND ";
    text_ += condition;
    values_.push_back(std::move(value));
  }
  void add(std::string_view condition, std::string first, std::string second) {
    add(condition, std::move(first));
    values_.push_back(std::move(second));
  }
  const std::string& text() const { return text_; }
  void bind(Query& query) const {
    for (const std::string& value : values_) query.bind(value);
  }

 private:
  std::string text_;
  std::vector<std::string> values_;
};

// Only the tightest bound of each side: SQLite seeks to one and tests the rest row by row.
void add_key_bounds(Conditions& where, const std::string& column, const std::string& prefix,
                    const std::string& behind, std::optional<std::string> end) {
  if (!behind.empty() && behind >= prefix) {
    where.add(column + " > ?", behind);
  } else if (!prefix.empty()) {
    where.add(column + " >= ?", prefix);
  }
  if (const auto prefix_end = end_of_prefix(prefix)) {
    end = end ? std::min(*end, *prefix_end) : *prefix_end;
  }
  if (end) where.add(column + " < ?", *end);
}

Conditions conditions_of(const Scan& scan) {
  const bool ascending = scan.order == ListQuery::Order::ascending;
  const bool in_key_order = scan.field.empty() || scan.equal;
  Conditions where;
  if (!scan.field.empty()) where.add("f.field = ?", scan.field);
  if (scan.equal) where.add("f.value = ?", *scan.equal);
  if (!in_key_order && scan.after && ascending) {
    where.add("(f.value, f.key) > (?, ?)", scan.after->first, scan.after->second);
  } else if (scan.at_least) {
    where.add("f.value >= ?", *scan.at_least);
  }
  if (!in_key_order && scan.after && !ascending) {
    where.add("(f.value, f.key) < (?, ?)", scan.after->first, scan.after->second);
  } else if (scan.below) {
    where.add("f.value < ?", *scan.below);
  }
  std::string behind = scan.start_after;
  std::optional<std::string> end;
  if (in_key_order && scan.after) {
    if (ascending) {
      behind = std::max(behind, scan.after->second);
    } else {
      end = scan.after->second;
    }
  }
  add_key_bounds(where, scan.field.empty() ? "d.key" : "f.key", scan.prefix, behind, end);
  return where;
}

std::string select(const Scan& scan, const Conditions& where) {
  const std::string_view direction = scan.order == ListQuery::Order::ascending ? "" : " DESC";
  constexpr std::string_view columns = "d.key, d.revision, d.created_revision, d.fields, d.body";
  if (scan.field.empty()) {
    return fmt::format("SELECT {} FROM documents d{} ORDER BY d.key{}", columns, where.text(),
                       direction);
  }
  // CROSS JOIN: the walk over the field comes first, whatever the planner would rather do.
  return fmt::format(
      "SELECT {} FROM fields f CROSS JOIN documents d ON d.key = f.key{} "
      "ORDER BY f.value{}, f.key{}",
      columns, where.text(), direction, direction);
}

Document document_before(const Query& row, std::string key, Revision created, int first_column) {
  return {std::move(key), row.number(first_column), created,
          std::string(row.text(first_column + 2)), decode_fields(row.text(first_column + 1))};
}

}  // namespace

std::optional<Document> find_document(Connection& db, const std::string& key) {
  Query query(db, "SELECT revision, created_revision, fields, body FROM documents WHERE key = ?");
  query.bind(key);
  if (!query.step()) return std::nullopt;
  return Document{key, query.number(0), query.number(1), std::string(query.text(3)),
                  decode_fields(query.text(2))};
}

SqliteSnapshot::SqliteSnapshot(Connection& db)
    : db_(db), transaction_(db, Transaction::Kind::read) {
  revision_ = db.number("SELECT value FROM meta WHERE name = 'revision'");
  trimmed_ = db.number("SELECT value FROM meta WHERE name = 'trimmed'");
}

std::vector<Document> SqliteSnapshot::scan(const Scan& scan, const Wanted& wanted) {
  const Conditions where = conditions_of(scan);
  Query query(db_, select(scan, where));
  where.bind(query);
  std::vector<Document> found;
  while (found.size() < scan.limit && query.step()) {
    std::string key(query.text(0));
    IndexFields fields = decode_fields(query.text(3));
    // The body is read last and only when wanted: long ones lie on pages of their own.
    if (!wanted(key, query.number(1), fields)) continue;
    found.push_back({std::move(key), query.number(1), query.number(2), std::string(query.text(4)),
                     std::move(fields)});
  }
  return found;
}

std::size_t SqliteSnapshot::count(const Scan& scan, std::size_t most) {
  Scan counted = scan;
  if (!scan.equal) {
    // Within a range of values, keys are no bound to seek to: the rows of other prefixes count too,
    // because a walk would pass over them as well.
    counted.prefix.clear();
    counted.start_after.clear();
  }
  const Conditions where = conditions_of(counted);
  Query query(db_, fmt::format("SELECT count(*) FROM (SELECT 1 FROM fields f{} LIMIT {})",
                               where.text(), most));
  where.bind(query);
  return query.step() ? static_cast<std::size_t>(query.number(0)) : 0;
}

std::set<std::string, std::less<>> SqliteSnapshot::roll_back(
    Revision revision, const std::string& prefix, const std::function<void(Document)>& visit) {
  Query query(db_,
              "SELECT key, created_revision, before_revision, before_fields, before_body "
              "FROM changes WHERE place >= ? ORDER BY place");
  query.bind(first_place(revision + 1));
  std::set<std::string, std::less<>> seen;
  while (query.step()) {
    const std::string_view key = query.text(0);
    if (!key.starts_with(prefix) || !seen.emplace(key).second) continue;
    if (query.number(2) == 0) continue;  // it did not exist then
    visit(document_before(query, std::string(key), query.number(1), 2));
  }
  return seen;
}

Document SqliteSnapshot::put_by(const std::string& key, std::int64_t place) {
  {
    Query next(db_,
               "SELECT created_revision, before_revision, before_fields, before_body "
               "FROM changes WHERE key = ? AND place > ? ORDER BY place LIMIT 1");
    next.bind(key).bind(place);
    if (next.step()) return document_before(next, key, next.number(0), 1);
  }
  auto present = find_document(db_, key);
  if (!present || present->revision != revision_at(place)) {
    throw base::Error(
        base::Code::data_loss,
        fmt::format("store {}: the change log does not agree with document '{}'", db_.path(), key));
  }
  return std::move(*present);
}

Batch SqliteSnapshot::changes(const std::string& prefix, Revision after) {
  if (after < trimmed_) throw expired("a watch from", after, trimmed_);
  Query query(db_,
              "SELECT place, key, kind, created_revision, before_revision, before_fields, "
              "before_body FROM changes WHERE place >= ? ORDER BY place");
  query.bind(first_place(after + 1));
  Batch batch{.through = revision_};
  std::size_t bytes = 0;
  while (query.step()) {
    const std::int64_t place = query.number(0);
    const bool full = batch.changes.size() >= kBatchChanges || bytes >= kBatchBytes;
    if (full && revision_at(place) != batch.changes.back().document.revision) {
      batch.through = batch.changes.back().document.revision;
      batch.complete = false;
      break;
    }
    std::string key(query.text(1));
    if (!key.starts_with(prefix)) continue;
    const auto kind = static_cast<Change::Kind>(query.number(2));
    std::optional<Document> before;
    if (query.number(4) != 0) before = document_before(query, key, query.number(3), 4);
    Document document = kind == Change::Kind::put ? put_by(key, place) : *before;
    document.revision = revision_at(place);
    bytes += document.body.size() + (before ? before->body.size() : 0);
    batch.changes.push_back({kind, std::move(document), std::move(before)});
  }
  return batch;
}

}  // namespace meridian::store
