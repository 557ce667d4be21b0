// The instances a region has, and who holds them: the one place that counts slots.
//
// Promises:
//   1. A gang is granted whole or not at all.
//   2. Order is priority, then arrival. A gang behind is let through (back-filled) only when that
//      delays no gang ahead of it past the time the bounds of what runs promise (LeaseRequest::
//      at_most); where no such time is known, nothing overtakes.
//   3. A lease is a document in the region's store, so that it ends in the same transaction as its
//      job; asking twice for the same owner is asking once.
//
// Thread-safe: two grants that race are ordered by the ledger document, which every grant rewrites.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
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
};

struct Lease {
  enum class State { waiting, granted } state = State::waiting;
  std::string reason;      // waiting: "requested 4, free 2 of 8; held by training/a (6)"
  std::vector<int> slots;  // granted: slot numbers in the pool
  std::vector<int> gpus;   // granted: device indexes
};

// CPUs an instance may count on: the pool's figure, else the machine's cores shared by the gang, at
// least 1 and at most what the type has.
int cpu_share(const Pool& pool, std::string_view type, int gang_size, int cores);

class Capacity {
 public:
  Capacity(store::Store& store, const base::Clock& clock, std::string account_region_prefix,
           std::vector<Pool> pools);
  // Error(resource_exhausted) when the gang could never fit ("requested 128, pool has 8; set
  // pools.…").
  void check_possible(const LeaseRequest& request) const;
  Lease request(const LeaseRequest& request);  // idempotent by owner; grants now if it can
  std::optional<Lease> find(const std::string& owner);
  store::Write release(const std::string& owner);  // to be committed with the owner's last state
  // What a granted lease holds goes to another owner, as it is: to be committed with both owners'
  // states. Nothing when `from` holds no granted lease, or `to` has one already.
  std::vector<store::Write> hand_over(const std::string& from, const std::string& to,
                                      std::optional<base::Duration> at_most);
  std::vector<std::string> waiting_owners();  // in queue order
  std::vector<std::string> ready_owners();    // waiting, would get theirs now: for after a release
  base::Json snapshot();                      // for /_meridian/v1/capacity and doctor
  const Pool* find_pool(std::string_view type) const;  // nullptr: no pool serves the type
  // Error(resource_exhausted) "not available in this region" for a type no pool serves.
  const Pool& pool_of(std::string_view type) const;

 private:
  store::Store& store_;
  const base::Clock& clock_;
  std::string prefix_;
  std::vector<Pool> pools_;
};

}  // namespace meridian::region::capacity
