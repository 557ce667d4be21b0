// The store without a file: maps under one lock, with the same listing and watching as the others.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <set>

#include "base/sync.h"
#include "store/hub.h"
#include "store/listing.h"
#include "store/rules.h"
#include "store/store.h"

namespace meridian::store {
namespace {

// Versions are immutable and shared between the map and the change log.
using Version = std::shared_ptr<const Document>;

struct LogEntry {
  Change::Kind kind = Change::Kind::put;
  Revision revision = 0;
  Version before;  // nothing when the change created the document
  Version after;   // nothing when it removed it
};

struct State {
  std::map<std::string, Version> documents;
  std::map<std::string, std::set<Scan::Position>> fields;  // name → (value, key)
  std::deque<LogEntry> log;
  Revision revision = 0, trimmed = 0;

  Revision revision_of(const std::string& key) const {
    const auto it = documents.find(key);
    return it == documents.end() ? 0 : it->second->revision;
  }

  // Replaces the document by `after`, which may be nothing.
  void change(const std::string& key, Version after) {
    const auto it = documents.find(key);
    const Version before = it == documents.end() ? nullptr : it->second;
    if (before) {
      for (const auto& [name, value] : before->index) fields[name].erase({value, key});
    }
    if (after) {
      for (const auto& [name, value] : after->index) fields[name].emplace(value, key);
      documents.insert_or_assign(key, after);
    } else {
      documents.erase(it);
    }
    log.push_back({after ? Change::Kind::put : Change::Kind::remove, revision, before, after});
  }

  void trim(std::size_t most) {
    while (log.size() > most) {
      trimmed = log.front().revision;
      log.pop_front();
    }
  }
};

// One instant: the lock is held for its life.
class MemorySnapshot final : public Snapshot {
 public:
  explicit MemorySnapshot(const State& state) : state_(state) {}
  Revision revision() override { return state_.revision; }
  Revision trimmed() override { return state_.trimmed; }

  std::vector<Document> scan(const Scan& scan, const Wanted& wanted) override {
    std::vector<Document> found;
    walk(scan, [&](const Version& v) {
      if (wanted(v->key, v->revision, v->index)) found.push_back(*v);
      return found.size() < scan.limit;
    });
    return found;
  }

  std::size_t count(const Scan& scan, std::size_t most) override {
    std::size_t n = 0;
    walk(scan, [&](const Version&) { return ++n < most; });
    return n;
  }

  void roll_back(Revision revision, const std::string& prefix,
                 const std::function<void(Document)>& visit) override {
    std::set<std::string_view> seen;
    const auto first = std::ranges::upper_bound(state_.log, revision, {}, &LogEntry::revision);
    for (auto it = first; it != state_.log.end(); ++it) {
      const Document& document = it->before ? *it->before : *it->after;
      if (!document.key.starts_with(prefix) || !seen.insert(document.key).second) continue;
      if (it->before) visit(document);
    }
  }

 private:
  using Visit = std::function<bool(const Version&)>;  // false ends the walk

  // Visits the elements of [first, last) from either end.
  template <class Iterator, class Element>
  static void each(Iterator first, Iterator last, ListQuery::Order order, Element element) {
    if (order == ListQuery::Order::ascending) {
      for (; first != last && element(*first); ++first) {
      }
    } else {
      while (first != last && element(*--last)) {
      }
    }
  }

  void walk(const Scan& scan, const Visit& visit) const {
    if (scan.field.empty()) {
      walk_keys(scan, visit);
    } else {
      walk_field(scan, visit);
    }
  }

  void walk_keys(const Scan& scan, const Visit& visit) const {
    const auto& documents = state_.documents;
    const bool ascending = scan.order == ListQuery::Order::ascending;
    std::optional<std::string> end = end_of_prefix(scan.prefix);
    std::string behind = scan.start_after;
    if (scan.after && ascending) behind = std::max(behind, scan.after->second);
    if (scan.after && !ascending)
      end = std::min(end.value_or(scan.after->second), scan.after->second);
    const bool skips = !behind.empty() && behind >= scan.prefix;
    if (end && std::max(behind, scan.prefix) >= *end) return;
    each(skips ? documents.upper_bound(behind) : documents.lower_bound(scan.prefix),
         end ? documents.lower_bound(*end) : documents.end(), scan.order,
         [&](const auto& entry) { return visit(entry.second); });
  }

  void walk_field(const Scan& scan, const Visit& visit) const {
    const auto field = state_.fields.find(scan.field);
    if (field == state_.fields.end()) return;
    const auto& rows = field->second;
    const bool ascending = scan.order == ListQuery::Order::ascending;
    Scan::Position low{scan.equal ? *scan.equal : scan.at_least.value_or(""), ""};
    std::optional<Scan::Position> high;
    if (scan.equal) high = {*scan.equal + '\0', ""};
    if (scan.below) high = {*scan.below, ""};
    if (scan.after && ascending)
      low = std::max(low, {scan.after->first, scan.after->second + '\0'});
    if (scan.after && !ascending) high = std::min(high.value_or(*scan.after), *scan.after);
    if (high && low >= *high) return;
    each(rows.lower_bound(low), high ? rows.lower_bound(*high) : rows.end(), scan.order,
         [&](const Scan::Position& row) {
           const std::string& key = row.second;
           const bool outside = !key.starts_with(scan.prefix) ||
                                (!scan.start_after.empty() && key <= scan.start_after);
           return outside || visit(state_.documents.at(key));
         });
  }

  const State& state_;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::size_t change_log_entries)
      : log_entries_(std::max<std::size_t>(1, change_log_entries)) {}

  CommitResult commit(std::vector<Write> writes) override {
    check_writes(writes);
    auto state = state_.lock();
    for (const Write& write : writes) {
      const Revision actual = state->revision_of(write.key);
      if (write.expect && *write.expect != actual)
        return Conflict{write.key, *write.expect, actual};
    }
    const std::size_t before = state->log.size();
    ++state->revision;
    for (Write& write : writes) apply(*state, write);
    if (state->log.size() == before) return --state->revision;
    std::vector<std::string> keys;
    for (std::size_t i = before; i < state->log.size(); ++i) {
      const LogEntry& entry = state->log[i];
      keys.push_back(entry.after ? entry.after->key : entry.before->key);
    }
    state->trim(log_entries_);
    hub_.publish(state->revision, keys);  // under the lock: revisions must come in order
    return state->revision;
  }

  std::optional<Document> find(const std::string& key) override {
    auto state = state_.lock();
    const auto it = state->documents.find(key);
    return it == state->documents.end() ? std::nullopt : std::optional(*it->second);
  }

  Page list(const ListQuery& query) override {
    auto state = state_.lock();
    MemorySnapshot snapshot(*state);
    return list_page(snapshot, query);
  }

  std::unique_ptr<Watch> watch(std::string prefix, Revision after) override {
    return hub_.watch(std::move(prefix), after, hub_.revision(),
                      [this](const std::string& p, Revision from) { return read(p, from); });
  }

  Revision revision() override { return hub_.revision(); }

 private:
  static void apply(State& state, Write& write) {
    const auto old = state.documents.find(write.key);
    if (write.kind == Write::Kind::remove && old != state.documents.end()) {
      state.change(std::string(write.key), nullptr);
    }
    if (write.kind != Write::Kind::put) return;
    const Revision created =
        old == state.documents.end() ? state.revision : old->second->created_revision;
    state.change(write.key, std::make_shared<const Document>(
                                Document{write.key, state.revision, created, std::move(write.body),
                                         std::move(write.index)}));
  }

  Batch read(const std::string& prefix, Revision after) const {
    auto state = state_.lock();
    if (after < state->trimmed) throw expired("a watch from", after, state->trimmed);
    Batch batch{.through = state->revision};
    std::size_t bytes = 0;
    auto it = std::ranges::upper_bound(state->log, after, {}, &LogEntry::revision);
    for (; it != state->log.end(); ++it) {
      const Document& document = it->after ? *it->after : *it->before;
      const bool full = batch.changes.size() >= kBatchChanges || bytes >= kBatchBytes;
      if (full && it->revision != batch.changes.back().document.revision) {
        batch.through = batch.changes.back().document.revision;
        batch.complete = false;
        break;
      }
      if (!document.key.starts_with(prefix)) continue;
      batch.changes.push_back({it->kind, document, std::nullopt});
      batch.changes.back().document.revision = it->revision;
      if (it->before) batch.changes.back().before = *it->before;
      bytes += document.body.size() + (it->before ? it->before->body.size() : 0);
    }
    return batch;
  }

  const std::size_t log_entries_;
  base::Sync<State> state_;
  WatchHub hub_{0};
};

}  // namespace

std::unique_ptr<Store> open_in_memory(std::size_t change_log_entries) {
  return std::make_unique<MemoryStore>(change_log_entries);
}

}  // namespace meridian::store
