// SPDX-License-Identifier: Apache-2.0
#include "store/tail_snapshot.h"

#include <algorithm>
#include <set>

namespace meridian::store {
namespace {

Scan::Position position_of(const Scan& scan, const Document& document) {
  return {scan.field.empty() ? "" : document.index.at(scan.field), document.key};
}

// Whether the walk comes past the document.
bool passes(const Scan& scan, const Document& document) {
  if (!document.key.starts_with(scan.prefix)) return false;
  if (!scan.start_after.empty() && document.key <= scan.start_after) return false;
  if (!scan.field.empty()) {
    const auto field = document.index.find(scan.field);
    if (field == document.index.end() || (scan.equal && field->second != *scan.equal) ||
        (scan.at_least && field->second < *scan.at_least) ||
        (scan.below && field->second >= *scan.below))
      return false;
  }
  if (!scan.after) return true;
  const auto position = position_of(scan, document);
  return scan.order == ListQuery::Order::ascending ? *scan.after < position
                                                   : position < *scan.after;
}

}  // namespace

TailSnapshot::TailSnapshot(SqliteSnapshot& tables, TailView tail)
    : tables_(tables), tail_(std::move(tail)) {
  if (tail_.base < tables_.revision()) {
    tail_.base = tables_.revision();
    tail_.revision = std::max(tail_.revision, tail_.base);
    std::erase_if(tail_.changes,
                  [&](const auto& change) { return change->revision <= tail_.base; });
  }
  for (const auto& change : tail_.changes) last_[change->key()] = change.get();
}

std::vector<Document> TailSnapshot::scan(const Scan& scan, const Wanted& wanted) {
  auto found =
      tables_.scan(scan, [&](const std::string& key, Revision revision, const IndexFields& fields) {
        return !last_.contains(key) && wanted(key, revision, fields);
      });
  const std::size_t of_tables = found.size();
  for (const auto& [key, change] : last_) {
    if (!change->after || !passes(scan, *change->after)) continue;
    const Document& document = *change->after;
    if (wanted(document.key, document.revision, document.index)) found.push_back(document);
  }
  if (found.size() == of_tables) return found;
  std::ranges::sort(found, [&](const Document& a, const Document& b) {
    return scan.order == ListQuery::Order::ascending ? position_of(scan, a) < position_of(scan, b)
                                                     : position_of(scan, b) < position_of(scan, a);
  });
  if (found.size() > scan.limit) found.resize(scan.limit);
  return found;
}

// Too many where the tail has a document of the tables, which does no harm.
std::size_t TailSnapshot::count(const Scan& scan, std::size_t most) {
  std::size_t number = tables_.count(scan, most);
  for (const auto& [key, change] : last_) {
    if (number >= most) return most;
    if (change->after && passes(scan, *change->after)) ++number;
  }
  return number;
}

void TailSnapshot::roll_back(Revision revision, const std::string& prefix,
                             const std::function<void(Document)>& visit) {
  std::set<std::string, std::less<>> seen;
  if (revision < tables_.revision()) seen = tables_.roll_back(revision, prefix, visit);
  auto next = std::ranges::upper_bound(tail_.changes, revision, {}, &TailChange::revision);
  for (; next != tail_.changes.end(); ++next) {
    const TailChange& change = **next;
    if (!change.key().starts_with(prefix) || !seen.insert(change.key()).second) continue;
    if (change.before) visit(*change.before);
  }
}

Batch TailSnapshot::changes(const std::string& prefix, Revision after) {
  Batch batch = tables_.changes(prefix, after);
  if (batch.complete) add_to_batch(batch, tail_, prefix, std::max(after, tail_.base));
  return batch;
}

}  // namespace meridian::store
