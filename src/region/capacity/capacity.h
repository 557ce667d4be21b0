// The instances a region has, and who holds them: the one place that counts slots.
//
// Promises:
//   1. A gang is granted whole or not at all.
//   2. Order is priority, then arrival. A gang behind is let through (back-filled) only when that
//      delays no gang ahead of it past the time the bounds of what runs promise (LeaseRequest::
//      at_most); where no such time is known, nothing overtakes. Nor does anything overtake past
//      the first Plan::kPlanned that wait for a pool.
//   3. A lease is a document in the region's store, so that it ends in the same transaction as its
//      job; asking twice for the same owner is asking once.
//   4. A request costs what it asks for and a commit, or part of one, however many hold or wait:
//   the leases are
//      kept in memory. The store is the truth, and the table follows it: it is loaded from the
//      documents (at start, and whenever it lost track), and before every call it takes from a
//      watch what was committed until then, by whomever. Nothing is told to a caller as granted
//      before its document is committed.
//   5. Only a reclaimable lease of lower priority is ever taken back for a gang, only for the first
//      of a queue, and only when that lets it in.
//
// Thread-safe. Of several Capacity objects on one store, one at a time may grant.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"
#include "store/store.h"

namespace meridian::region::capacity {

// A kind of instance and how many there are (config.yaml `pools`).
struct Pool {
  std::string name;                // "default"
  std::vector<std::string> types;  // ml.* types it serves; empty = any known type
  int count = 8;
  double cpus = 0;                 // per instance; 0 = a real share of the machine
  std::uint64_t memory_bytes = 0;  // 0 = unlimited
  int gpus = 0;
  std::optional<double> price_per_hour;
};

struct InstanceType {
  std::string name;
  int cpus = 0, gpus = 0;
  std::uint64_t memory_bytes = 0;
  std::optional<double> price_per_hour;  // dated list price, USD; absent = "no price"
  std::string price_source;
};
std::optional<InstanceType> find_instance_type(std::string_view name);

// The dated list price in that region, else in us-east-1, else nothing.
struct ListPrice {
  double on_demand = 0, spot = 0;  // USD per instance and hour
  std::string source;              // "EC2 list price 2022, us-west-2"
};
std::optional<ListPrice> find_list_price(std::string_view type, std::string_view region);

struct LeaseRequest {
  std::string owner;                     // "training/my-job"
  std::map<std::string, int> instances;  // type → count: the gang
  int priority = 0;
  std::optional<base::Duration> at_most;  // how long it may be held; nothing = no bound
  bool reclaimable = false;               // may be taken back for a gang of higher priority
};

struct Lease {
  enum class State { waiting, granted } state = State::waiting;
  std::string reason;      // waiting: "requested 4, free 2 of 8; held by training/a (6)"
  std::vector<int> slots;  // granted: slot numbers in the pool
  std::vector<int> gpus;   // granted: device indexes
  // Waiting: the owners whose leases are to be taken back for it; who asks tells them. Asking again
  // names them again until they are gone.
  std::vector<std::string> reclaim;
};

// CPUs an instance may count on: the pool's figure, else the machine's cores shared by the gang, at
// least 1 and at most what the type has.
int cpu_share(const Pool& pool, std::string_view type, int gang_size, int cores);

class Capacity {
 public:
  // A lease, or a place in the queue, that becomes so with a commit of its asker:
  //
  //   auto claim = capacity.claim(request);
  //   writes.push_back(what the asker has to say of claim.lease());
  //   append(writes, claim.writes());
  //   if (auto revision = store.commit(writes)) claim.settle(*revision);
  //
  // Not settled, nothing was asked.
  class Claim;

  Capacity(store::Store& store, const base::Clock& clock, std::string account_region_prefix,
           std::vector<Pool> pools);
  ~Capacity();
  // Error(resource_exhausted) when the gang could never fit ("requested 128, pool has 8; set
  // pools.…").
  void check_possible(const LeaseRequest& request) const;
  Lease request(const LeaseRequest& request);  // idempotent by owner; grants now if it can
  Claim claim(const LeaseRequest& request);
  std::optional<Lease> find(const std::string& owner);
  store::Write release(const std::string& owner);  // to be committed with the owner's last state
  // What a granted lease holds goes to another owner, as it is: to be committed with both owners'
  // states. Nothing when `from` holds no granted lease, or `to` has one already.
  std::vector<store::Write> hand_over(const std::string& from, const std::string& to,
                                      std::optional<base::Duration> at_most);
  std::vector<std::string> waiting_owners();  // in queue order
  // Waiting, and would get theirs now, or have others reclaimed: for after a release.
  std::vector<std::string> ready_owners();
  base::Json snapshot();                               // for /_meridian/v1/capacity and doctor
  const Pool* find_pool(std::string_view type) const;  // nullptr: no pool serves the type
  // Error(resource_exhausted) "not available in this region" for a type no pool serves.
  const Pool& pool_of(std::string_view type) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Capacity::Claim {
 public:
  Claim(Claim&& other) noexcept;
  ~Claim();
  const Lease& lease() const { return lease_; }
  // With their preconditions; none when all is written already.
  std::vector<store::Write> writes() const;
  void settle(store::Revision revision);  // of the commit that had the writes

 private:
  friend class Capacity;
  Claim(State& state, std::string owner, Lease lease, std::optional<store::Write> write);
  State* state_;  // nullptr: settled
  std::string owner_;
  Lease lease_;
  std::optional<store::Write> write_;
};

}  // namespace meridian::region::capacity
