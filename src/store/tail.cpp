// SPDX-License-Identifier: Apache-2.0
#include "store/tail.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"
#include "store/rules.h"

namespace meridian::store {

Change TailChange::told() const {
  Change change{.kind = after ? Change::Kind::put : Change::Kind::remove,
                .document = after ? *after : *before,
                .before = {}};
  change.document.revision = revision;
  if (before) change.before = *before;
  return change;
}

void add_to_batch(Batch& batch, const TailView& view, const std::string& prefix, Revision after) {
  std::size_t bytes = 0;
  const auto count = [&](const Change& change) {
    bytes += change.document.body.size() + (change.before ? change.before->body.size() : 0);
  };
  std::ranges::for_each(batch.changes, count);
  auto next = std::ranges::upper_bound(view.changes, after, {}, &TailChange::revision);
  for (; next != view.changes.end(); ++next) {
    const TailChange& change = **next;
    const bool full = batch.changes.size() >= kBatchChanges || bytes >= kBatchBytes;
    if (full && change.revision != batch.changes.back().document.revision) {
      batch.through = batch.changes.back().document.revision;
      batch.complete = false;
      return;
    }
    if (!change.key().starts_with(prefix)) continue;
    batch.changes.push_back(change.told());
    count(batch.changes.back());
  }
  batch.through = view.revision;
}

void Tail::start(Revision base) {
  auto state = state_.lock();
  *state = State{.view = {.base = base, .revision = base}};
}

void Tail::add(const TailChanges& changes) {
  auto state = state_.lock();
  for (const auto& change : changes) {
    state->view.changes.push_back(change);
    state->view.revision = change->revision;
    state->bytes += change->after ? change->after->body.size() : 0;
    state->last.erase(change->key());  // its key lives as long as the older change
    state->last.emplace(change->key(), change);
  }
}

std::size_t Tail::size() const { return state_.lock()->view.changes.size(); }
std::size_t Tail::bytes() const { return state_.lock()->bytes; }
TailView Tail::view() const { return state_.lock()->view; }

std::shared_ptr<const TailChange> Tail::find(std::string_view key, Revision reaching) const {
  auto state = state_.lock();
  if (reaching > state->view.revision) return nullptr;
  const auto found = state->last.find(key);
  return found == state->last.end() ? nullptr : found->second;
}

std::optional<Batch> Tail::read(const std::string& prefix, Revision after) const {
  auto state = state_.lock();
  if (after < state->view.base) return std::nullopt;
  Batch batch;
  add_to_batch(batch, state->view, prefix, after);
  return batch;
}

std::string encode_changes(std::span<const std::shared_ptr<const TailChange>> changes) {
  std::string row;
  for (const auto& change : changes) {
    append_piece(row, change->after ? "put" : "remove");
    append_piece(row, change->key());
    if (!change->after) continue;
    append_piece(row, std::to_string(change->after->created_revision));
    append_piece(row, encode_fields(change->after->index));
    append_piece(row, change->after->body);
  }
  return row;
}

std::vector<StoredChange> decode_changes(std::string_view row, Revision revision) {
  const auto next = [&] {
    const auto piece = take_piece(row);
    if (!piece) throw base::Error(base::Code::data_loss, "a row of the tail is damaged");
    return *piece;
  };
  std::vector<StoredChange> changes;
  while (!row.empty()) {
    StoredChange& change = changes.emplace_back();
    change.kind = next() == "put" ? Change::Kind::put : Change::Kind::remove;
    change.document.key = next();
    change.document.revision = revision;
    if (change.kind == Change::Kind::remove) continue;
    change.document.created_revision = base::to_int(next()).value_or(revision);
    change.document.index = decode_fields(next());
    change.document.body = next();
  }
  return changes;
}

}  // namespace meridian::store
