// The instances a region has, and who holds them: the one place that counts slots.
//
// Gangs are granted whole or not at all, in order of priority and arrival with back-fill that
// delays no gang ahead. The plan is a pure function; leases are documents in the region's store, so
// that a lease ends in the same transaction as its job.
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

struct LeaseRequest {
  std::string owner;                     // "training/my-job"
  std::map<std::string, int> instances;  // type → count: the gang
  int priority = 0;
};

struct Lease {
  enum class State { waiting, granted } state = State::waiting;
  std::string reason;      // waiting: "requested 4, free 2 of 8; held by training/a (6)"
  std::vector<int> slots;  // granted: slot numbers in the pool
  std::vector<int> gpus;   // granted: device indexes
};

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
  std::vector<std::string> waiting_owners();       // to be looked at again after a release
  base::Json snapshot();                           // for /_meridian/v1/capacity and doctor
  const Pool& pool_of(std::string_view type) const;

 private:
  store::Store& store_;
  const base::Clock& clock_;
  std::string prefix_;
  std::vector<Pool> pools_;
};

}  // namespace meridian::region::capacity
