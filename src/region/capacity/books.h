// The leases of a region in memory, and the queue of those that wait. Private to this folder.
//
// What it knows of an owner is what the store's document of that owner said at the last apply() or
// settle(), or while a commit is under way (`in_flight`), what that commit will make of it: slots
// that are being granted are taken for everybody else. A commit that fails is taken back by
// withdraw().
//
// The plan of the queue is kept from call to call and only extended by those who queue up at its
// end. It is made anew when anything else changed, when a bound passed, after a second, and always
// before a grant: nobody is granted what a plan of another instant said.
//
// Guarded by its owner; all calls are quick and touch no store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "region/capacity/lease_record.h"
#include "region/capacity/plan.h"

namespace meridian::region::capacity {

struct Place {  // in the queue
  int priority = 0;
  std::int64_t arrival = 0;
  std::string owner;
  std::strong_ordering operator<=>(const Place& other) const {
    if (priority != other.priority) return other.priority <=> priority;
    if (arrival != other.arrival) return arrival <=> other.arrival;
    return owner <=> other.owner;
  }
  bool operator==(const Place&) const = default;
};

// What the store says of an owner since a revision.
struct Change {
  store::Revision revision = 0;
  std::optional<Record> record;  // nothing: it has no lease
};

struct Entry {
  Record record;
  store::Revision revision = 0;  // of its document; 0 = none yet
  bool in_flight = false;
  std::optional<Record> before;  // in flight: to go back to; nothing = no lease
  std::optional<Change> missed;  // in flight: the last change that came meanwhile
  Demand demand;                 // waiting: what it needs
  std::uint64_t plan = 0;        // waiting: the plan that has it, and when it fits there
  std::optional<base::Timestamp> expected;
  Place place() const { return {record.priority, record.arrival, record.owner}; }
};

class Books {
 public:
  explicit Books(const std::vector<Pool>& pools);

  // Forgets all that is not in flight.
  void clear();
  // What the store says of an owner. Older news than what is known changes nothing.
  void apply(const std::string& owner, Change change);

  const Entry* find(const std::string& owner) const;
  // A lease or place in the queue for a request, and what is to be committed for it.
  struct Answer {
    Lease lease;
    std::optional<Record> write;  // nothing: it is so already
    store::Revision expect = 0;
  };
  // The owner must not be in flight. With `write`, it is so afterwards, until settle or withdraw.
  Answer ask(const LeaseRequest& request, base::Timestamp now);
  void settle(const std::string& owner, store::Revision revision);
  void withdraw(const std::string& owner);

  Lease waiting_lease(const Entry& entry) const;
  std::vector<std::string> waiting_owners() const;  // in queue order
  // Those whose next request is granted, or would have others reclaimed.
  std::vector<std::string> ready_owners(base::Timestamp now);
  base::Json snapshot(base::Timestamp now);

 private:
  using Queue = __gnu_pbds::tree<Place, __gnu_pbds::null_type, std::less<>, __gnu_pbds::rb_tree_tag,
                                 __gnu_pbds::tree_order_statistics_node_update>;
  struct PoolBook {
    const Pool* pool = nullptr;  // nullptr: the configuration lost it
    std::set<int> free;          // slot numbers
    std::map<std::string, int> holders;
    int used = 0;
    Queue queue;
    int size() const { return pool ? pool->count : 0; }
  };

  std::string pool_for(std::string_view type) const;
  Demand demand_of(const Record& record) const;

  void enter(Entry& entry);  // into queue or holders, as its record says
  void leave(Entry& entry);
  void erase(std::map<std::string, Entry>::iterator entry);
  void assign(Record& record, const Demand& demand, base::Timestamp now);

  void make_plan(base::Timestamp now);
  void plan_one(Entry& entry, base::Timestamp now);
  std::optional<base::Timestamp> expected(const Entry& entry) const;
  bool fits_now(Entry& entry, base::Timestamp now);
  // Who must give theirs back so that the entry gets in at once; nobody unless it heads its queues.
  std::vector<std::string> to_reclaim(const Entry& entry) const;

  std::string reason(const Entry& entry) const;
  std::string ahead_of(const Entry& entry) const;

  const std::vector<Pool>& pools_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, PoolBook> books_;  // by the pool's name
  std::map<Place, Entry*> queue_;          // all that wait
  std::map<std::string, Entry*> held_;     // all that hold
  std::int64_t arrivals_ = 0;

  std::optional<Plan> plan_;  // nothing: to be made anew
  std::uint64_t plan_number_ = 0;
  base::Timestamp planned_at_{};
  std::optional<base::Timestamp> next_end_;  // the first bound that the plan counts on
};

}  // namespace meridian::region::capacity
