// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/capacity.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/sync.h"
#include "region/capacity/books.h"

namespace meridian::region::capacity {
namespace {

std::vector<Pool> at_least_one(std::vector<Pool> pools) {
  if (pools.empty()) pools.push_back({.name = "default"});
  return pools;
}

}  // namespace

// The table and where in the store's history it stands.
struct Table {
  explicit Table(const std::vector<Pool>& pools) : books(pools) {}
  Books books;
  std::unique_ptr<store::Watch> watch;  // nothing: to be loaded
};

struct Capacity::State {
  State(store::Store& the_store, const base::Clock& the_clock, std::string prefix,
        std::vector<Pool> the_pools)
      : store(the_store),
        clock(the_clock),
        leases(std::move(prefix) + "/capacity/lease/"),
        pools(at_least_one(std::move(the_pools))),
        table(std::make_unique<Table>(pools)) {}

  std::string key(const std::string& owner) const { return leases + owner; }

  // The table as the store has it now.
  auto lock() {
    auto guard = table.lock();
    catch_up(**guard);
    return guard;
  }
  base::Sync<std::unique_ptr<Table>>::Guard lock_for(const std::string& owner);

  void catch_up(Table& of);
  void load(Table& of) const;
  void apply(Books& books, store::Change change) const;

  store::Store& store;
  const base::Clock& clock;
  const std::string leases;  // prefix of the keys
  const std::vector<Pool> pools;
  base::Sync<std::unique_ptr<Table>> table;
};

void Capacity::State::apply(Books& books, store::Change change) const {
  const store::Document& document = change.document;
  Change told{.revision = document.revision, .record = {}};
  const std::string owner = document.key.substr(leases.size());
  if (change.kind == store::Change::Kind::put) {
    const Entry* known = books.find(owner);
    // Mostly it is what settle() said already.
    if (known && !known->in_flight && known->revision == told.revision) return;
    told.record = decode(document);
  }
  books.apply(owner, std::move(told));
}

void Capacity::State::load(Table& of) const {
  of.books.clear();
  store::ListQuery query{.prefix = leases, .limit = 1000};
  for (;;) {
    store::Page page = store.list(query);
    for (auto& document : page.documents)
      apply(of.books, {store::Change::Kind::put, std::move(document)});
    query.token = page.next_token;
    if (query.token.empty()) {
      of.watch = store.watch(leases, page.revision);
      return;
    }
  }
}

void Capacity::State::catch_up(Table& of) {
  if (!of.watch) load(of);
  // Unless this gets to its end, the next call loads.
  auto watch = std::exchange(of.watch, nullptr);
  for (;;) {
    std::vector<store::Change> changes;
    try {
      changes = watch->wait_next({}, std::chrono::milliseconds(0));
    } catch (const base::Error& error) {  // the way to learn that the change log is behind us
      if (error.code() != base::Code::failed_precondition) throw;
      return load(of);
    }
    if (changes.empty()) break;
    for (auto& change : changes) apply(of.books, std::move(change));
  }
  of.watch = std::move(watch);
}

// As lock(), once no commit for the owner is under way.
base::Sync<std::unique_ptr<Table>>::Guard Capacity::State::lock_for(const std::string& owner) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    auto guard = lock();
    const auto idle = [&](const std::unique_ptr<Table>& of) {
      const Entry* entry = of->books.find(owner);
      return !entry || !entry->in_flight;
    };
    if (idle(*guard)) return guard;
    if (!guard.wait_until({}, deadline, idle))
      throw base::Error(base::Code::unavailable,
                        "the lease of " + owner + " is still being written", base::Retry::yes);
  }
}

Capacity::Claim::Claim(State& state, std::string owner, Lease lease,
                       std::optional<store::Write> write)
    : state_(write ? &state : nullptr),
      owner_(std::move(owner)),
      lease_(std::move(lease)),
      write_(std::move(write)) {}

Capacity::Claim::Claim(Claim&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)),
      owner_(std::move(other.owner_)),
      lease_(std::move(other.lease_)),
      write_(std::move(other.write_)) {}

Capacity::Claim::~Claim() {
  if (!state_) return;
  (*state_->table.lock())->books.withdraw(owner_);
  state_->table.notify_all();
}

std::vector<store::Write> Capacity::Claim::writes() const {
  if (!write_) return {};
  return {*write_};
}

void Capacity::Claim::settle(store::Revision revision) {
  if (!state_) return;
  (*state_->table.lock())->books.settle(owner_, revision);
  std::exchange(state_, nullptr)->table.notify_all();
}

Capacity::Capacity(store::Store& store, const base::Clock& clock, std::string account_region_prefix,
                   std::vector<Pool> pools)
    : state_(std::make_unique<State>(store, clock, std::move(account_region_prefix),
                                     std::move(pools))) {
  (void)state_->lock();  // loads; what is wrong with the documents shows at the start
}

Capacity::~Capacity() = default;

const Pool* Capacity::find_pool(std::string_view type) const {
  for (const Pool& pool : state_->pools)
    if (std::ranges::find(pool.types, type) != pool.types.end()) return &pool;
  for (const Pool& pool : state_->pools)
    if (pool.types.empty() && find_instance_type(type)) return &pool;
  return nullptr;
}

const Pool& Capacity::pool_of(std::string_view type) const {
  if (const Pool* pool = find_pool(type)) return *pool;
  std::vector<std::string> names;
  for (const Pool& pool : state_->pools) names.push_back(pool.name);
  throw base::Error(base::Code::resource_exhausted,
                    "The requested resource training-job/" + std::string(type) +
                        " is not available in this region: no pool serves it (pools: " +
                        base::join(names, ", ") + "); add it to pools.<name>.types");
}

void Capacity::check_possible(const LeaseRequest& request) const {
  std::map<std::string, int> wanted;
  for (const auto& [type, count] : request.instances) wanted[pool_of(type).name] += count;
  for (const Pool& pool : state_->pools) {
    auto need = wanted.find(pool.name);
    if (need == wanted.end() || need->second <= pool.count) continue;
    throw base::Error(base::Code::resource_exhausted,
                      "requested " + std::to_string(need->second) + ", pool has " +
                          std::to_string(pool.count) + "; set pools." + pool.name +
                          ".count in config.yaml to raise it");
  }
}

Capacity::Claim Capacity::claim(const LeaseRequest& request) {
  check_possible(request);
  Books::Answer answer;
  {
    auto table = state_->lock_for(request.owner);
    answer = (*table)->books.ask(request, state_->clock.now());
  }
  std::optional<store::Write> write;
  if (answer.write)
    write = store::put(state_->key(request.owner), encode(*answer.write), {}, answer.expect);
  return Claim(*state_, request.owner, std::move(answer.lease), std::move(write));
}

Lease Capacity::request(const LeaseRequest& request) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    Claim asked = claim(request);
    auto writes = asked.writes();
    if (writes.empty()) return asked.lease();
    const auto committed = state_->store.commit(std::move(writes));
    if (!committed) continue;  // its lease was changed from elsewhere: look again
    asked.settle(*committed);
    return asked.lease();
  }
  throw base::Error(base::Code::conflict, "the lease of " + request.owner + " is too busy",
                    base::Retry::yes);
}

std::optional<Lease> Capacity::find(const std::string& owner) {
  auto table = state_->lock();
  const Entry* entry = (*table)->books.find(owner);
  if (!entry || (entry->in_flight && entry->revision == 0)) return std::nullopt;
  if (entry->record.granted && !entry->in_flight) return to_lease(entry->record);
  return (*table)->books.waiting_lease(*entry);
}

store::Write Capacity::release(const std::string& owner) {
  return store::remove(state_->key(owner));
}

std::vector<store::Write> Capacity::hand_over(const std::string& from, const std::string& to,
                                              std::optional<base::Duration> at_most) {
  auto table = state_->lock();
  const Entry* given = (*table)->books.find(from);
  const Entry* taken = (*table)->books.find(to);
  const auto holds = [](const Entry* entry) { return entry && entry->record.granted; };
  if (!holds(given) || given->in_flight || holds(taken) || (taken && taken->in_flight)) return {};
  Record record = given->record;
  record.owner = to;
  record.at_most = at_most;
  record.granted_at = state_->clock.now();
  return {store::remove(state_->key(from), given->revision),
          store::put(state_->key(to), encode(record), {}, taken ? taken->revision : 0)};
}

std::vector<std::string> Capacity::waiting_owners() {
  return (*state_->lock())->books.waiting_owners();
}

std::vector<std::string> Capacity::ready_owners() {
  return (*state_->lock())->books.ready_owners(state_->clock.now());
}

base::Json Capacity::snapshot() { return (*state_->lock())->books.snapshot(state_->clock.now()); }

}  // namespace meridian::region::capacity
