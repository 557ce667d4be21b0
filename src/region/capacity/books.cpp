// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/books.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace meridian::region::capacity {
namespace {

constexpr base::Duration kPlanLives = std::chrono::seconds(1);

// What a granted lease holds is what it was given, whatever the configuration says now.
Demand holding(const Record& record) {
  Demand held;
  for (const auto& [pool, taken] : record.slots) held[pool] = static_cast<int>(taken.size());
  return held;
}

}  // namespace

Books::Books(const std::vector<Pool>& pools) : pools_(pools) {
  for (const Pool& pool : pools_) {
    PoolBook& its = books_[pool.name];
    its.pool = &pool;
    for (int slot = 0; slot < pool.count; ++slot) its.free.insert(its.free.end(), slot);
  }
}

std::string Books::pool_for(std::string_view type) const {
  for (const Pool& pool : pools_)
    if (std::ranges::find(pool.types, type) != pool.types.end()) return pool.name;
  for (const Pool& pool : pools_)
    if (pool.types.empty()) return pool.name;
  return "";  // its pool was taken out of the configuration
}

Demand Books::demand_of(const Record& record) const {
  Demand demand;
  for (const auto& [type, count] : record.instances) demand[pool_for(type)] += count;
  return demand;
}

// ---- the table

void Books::enter(Entry& entry) {
  const Record& record = entry.record;
  if (!record.granted) {
    entry.demand = demand_of(record);
    entry.plan = 0;
    for (const auto& [pool, slots] : entry.demand) books_[pool].queue.insert(entry.place());
    queue_.emplace(entry.place(), &entry);
    return;
  }
  held_.emplace(record.owner, &entry);
  for (const auto& [pool, taken] : record.slots) {
    PoolBook& book = books_[pool];
    book.holders[record.owner] = static_cast<int>(taken.size());
    book.used += static_cast<int>(taken.size());
    for (int slot : taken) book.free.erase(slot);
  }
}

void Books::leave(Entry& entry) {
  const Record& record = entry.record;
  if (!record.granted) {
    for (const auto& [pool, slots] : entry.demand) books_[pool].queue.erase(entry.place());
    queue_.erase(entry.place());
    return;
  }
  held_.erase(record.owner);
  for (const auto& [pool, taken] : record.slots) {
    PoolBook& book = books_[pool];
    book.holders.erase(record.owner);
    book.used -= static_cast<int>(taken.size());
    for (int slot : taken)
      if (slot < book.size()) book.free.insert(slot);
  }
}

void Books::erase(std::map<std::string, Entry>::iterator entry) {
  leave(entry->second);
  entries_.erase(entry);
  plan_.reset();
}

void Books::clear() {
  for (auto each = entries_.begin(); each != entries_.end();) {
    const auto entry = each++;
    if (!entry->second.in_flight) erase(entry);
  }
}

void Books::apply(const std::string& owner, Change change) {
  const auto found = entries_.find(owner);
  if (found != entries_.end()) {
    if (found->second.in_flight) {
      found->second.missed = std::move(change);
      return;
    }
    if (change.revision <= found->second.revision) return;
    erase(found);
  }
  if (!change.record) return;
  plan_.reset();
  Entry& entry = entries_[owner];
  entry.record = std::move(*change.record);
  entry.revision = change.revision;
  arrivals_ = std::max(arrivals_, entry.record.arrival);
  enter(entry);
}

const Entry* Books::find(const std::string& owner) const {
  const auto found = entries_.find(owner);
  return found == entries_.end() ? nullptr : &found->second;
}

// ---- the queue

void Books::make_plan(base::Timestamp now) {
  Demand sizes;
  for (const Pool& pool : pools_) sizes[pool.name] = pool.count;
  plan_.emplace(std::move(sizes));
  ++plan_number_;
  planned_at_ = now;
  next_end_.reset();
  for (const auto& [owner, entry] : held_) {
    const auto until = entry->record.until();
    plan_->hold(holding(entry->record), until, now);
    if (until && *until > now) next_end_ = std::min(next_end_.value_or(*until), *until);
  }
  const auto through = [&](const std::string& pool) {
    return plan_->closed(pool) || plan_->planned(pool) >= books_[pool].queue.size();
  };
  std::size_t open = 0;  // pools that somebody further back may still fit into
  for (const auto& [pool, book] : books_) open += through(pool) ? 0 : 1;
  for (const auto& [place, entry] : queue_) {
    if (open == 0) break;
    std::size_t before = 0, after = 0;
    for (const auto& [pool, slots] : entry->demand) before += through(pool) ? 0 : 1;
    plan_one(*entry, now);
    for (const auto& [pool, slots] : entry->demand) after += through(pool) ? 0 : 1;
    open -= before - after;
  }
}

void Books::plan_one(Entry& entry, base::Timestamp now) {
  entry.plan = plan_number_;
  entry.expected = plan_->place(entry.demand, entry.record.at_most, now);
}

std::optional<base::Timestamp> Books::expected(const Entry& entry) const {
  return entry.plan == plan_number_ ? entry.expected : std::nullopt;
}

bool Books::fits_now(Entry& entry, base::Timestamp now) {
  const bool old = !plan_ || now < planned_at_ || now - planned_at_ >= kPlanLives ||
                   (next_end_ && *next_end_ <= now);
  if (old)
    make_plan(now);
  else if (entry.plan != plan_number_ && queue_.rbegin()->second == &entry)
    plan_one(entry, now);
  // Of another instant, it is a hint that a new one may let the entry in.
  if (now != planned_at_ && expected(entry) && *expected(entry) <= now) make_plan(now);
  return expected(entry) && *expected(entry) <= now;
}

void Books::assign(Record& record, const Demand& demand, base::Timestamp now) {
  for (const auto& [pool, wanted] : demand) {
    const PoolBook& book = books_[pool];
    auto& slots = record.slots[pool];
    slots.assign(book.free.begin(), std::next(book.free.begin(), wanted));
    for (int slot : slots)
      for (int device = 0; device < book.pool->gpus; ++device)
        record.gpus.push_back(slot * book.pool->gpus + device);
  }
  record.granted = true;
  record.granted_at = now;
}

Books::Answer Books::ask(const LeaseRequest& request, base::Timestamp now) {
  auto [found, is_new] = entries_.try_emplace(request.owner);
  Entry& entry = found->second;
  if (is_new) {
    entry.record = {.owner = request.owner,
                    .instances = request.instances,
                    .priority = request.priority,
                    .reclaimable = request.reclaimable,
                    .arrival = ++arrivals_,
                    .at_most = request.at_most};
    enter(entry);
    if (queue_.rbegin()->second != &entry) plan_.reset();
  }
  if (entry.record.granted) return {.lease = to_lease(entry.record)};
  const bool grant = fits_now(entry, now);
  if (!grant && !is_new) return {.lease = waiting_lease(entry)};
  entry.in_flight = true;
  if (!grant) return {waiting_lease(entry), entry.record, entry.revision};
  // The plan has the gang from now on already, so it stays what it is.
  if (!is_new) entry.before = entry.record;
  leave(entry);
  assign(entry.record, entry.demand, now);
  enter(entry);
  if (const auto until = entry.record.until())
    next_end_ = std::min(next_end_.value_or(*until), *until);
  return {to_lease(entry.record), entry.record, entry.revision};
}

void Books::settle(const std::string& owner, store::Revision revision) {
  Entry& entry = entries_.at(owner);
  entry.in_flight = false;
  entry.revision = revision;
  entry.before.reset();
  if (auto missed = std::exchange(entry.missed, std::nullopt)) apply(owner, std::move(*missed));
}

void Books::withdraw(const std::string& owner) {
  const auto found = entries_.find(owner);
  Entry& entry = found->second;
  auto missed = std::exchange(entry.missed, std::nullopt);
  entry.in_flight = false;
  if (entry.before) {
    leave(entry);
    entry.record = *std::exchange(entry.before, std::nullopt);
    enter(entry);
    plan_.reset();
  } else {
    erase(found);
  }
  if (missed) apply(owner, std::move(*missed));
}

std::vector<std::string> Books::waiting_owners() const {
  std::vector<std::string> owners;
  for (const auto& [place, entry] : queue_) owners.push_back(place.owner);
  return owners;
}

std::vector<std::string> Books::ready_owners(base::Timestamp now) {
  std::vector<std::string> owners;
  if (queue_.empty()) return owners;
  make_plan(now);
  for (const auto& [place, entry] : queue_) {
    if (entry->plan != plan_number_) break;  // nor anybody behind it
    if (entry->expected && *entry->expected <= now) owners.push_back(place.owner);
  }
  for (const auto& [pool, book] : books_) {
    if (book.queue.empty()) continue;
    const std::string& head = book.queue.begin()->owner;
    if (!to_reclaim(entries_.at(head)).empty() && std::ranges::find(owners, head) == owners.end())
      owners.push_back(head);
  }
  return owners;
}

std::vector<std::string> Books::to_reclaim(const Entry& entry) const {
  Demand missing;
  for (const auto& [pool, wanted] : entry.demand) {
    const auto book = books_.find(pool);
    if (book == books_.end() || book->second.queue.empty() ||
        book->second.queue.begin()->owner != entry.record.owner)
      return {};
    const int lacking = wanted - (book->second.size() - book->second.used);
    if (lacking > 0) missing[pool] = lacking;
  }
  if (missing.empty()) return {};
  std::vector<Reclaimable> leases;
  for (const auto& [owner, holder] : held_) {
    const Record& record = holder->record;
    if (record.reclaimable && record.priority < entry.record.priority)
      leases.push_back(
          {owner, holding(record), record.priority, record.granted_at.value_or(base::Timestamp{})});
  }
  return plan_reclaim(missing, std::move(leases));
}

}  // namespace meridian::region::capacity
