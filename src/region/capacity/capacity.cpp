// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/capacity.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "region/capacity/plan.h"

namespace meridian::region::capacity {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// A lease as it is stored.
struct Record {
  std::string owner;
  std::map<std::string, int> instances;
  int priority = 0;
  std::int64_t arrival = 0;
  std::optional<base::Duration> at_most;
  bool granted = false;
  std::optional<base::Timestamp> granted_at;
  std::map<std::string, std::vector<int>> slots;  // pool → slot numbers
  std::vector<int> gpus;
};

JsonArray numbers(const std::vector<int>& values) {
  JsonArray array;
  for (int value : values) array.push_back(value);
  return array;
}

std::vector<int> read_numbers(const Json* array) {
  std::vector<int> values;
  if (array && array->is_array())
    for (const Json& each : array->get_array()) values.push_back(static_cast<int>(each.as_int64()));
  return values;
}

std::string encode(const Record& record) {
  JsonObject instances, slots;
  for (const auto& [type, count] : record.instances) instances[type] = count;
  for (const auto& [pool, taken] : record.slots) slots[pool] = numbers(taken);
  JsonObject body{{"owner", record.owner},       {"instances", instances},
                  {"priority", record.priority}, {"arrival", record.arrival},
                  {"granted", record.granted},   {"slots", slots},
                  {"gpus", numbers(record.gpus)}};
  if (record.at_most) body["at_most_ms"] = record.at_most->count();
  if (record.granted_at) body["granted_at"] = record.granted_at->ms;
  return base::to_text(body);
}

Record decode(const store::Document& document) {
  Json body = base::parse_stored_json(document.body, document.key);
  Record record;
  record.owner = base::string_or(body, "owner");
  if (const Json* instances = base::find(body, "instances"))
    for (const auto& [type, count] : instances->as_object())
      record.instances[std::string(type)] = static_cast<int>(count.as_int64());
  record.priority = static_cast<int>(base::int_or(body, "priority", 0));
  record.arrival = base::int_or(body, "arrival", 0);
  record.granted = base::bool_or(body, "granted", false);
  if (auto ms = base::int_or(body, "at_most_ms", -1); ms >= 0) record.at_most = base::Duration(ms);
  if (auto at = base::int_or(body, "granted_at", -1); at >= 0)
    record.granted_at = base::Timestamp{at};
  if (const Json* slots = base::find(body, "slots"))
    for (const auto& [pool, taken] : slots->as_object())
      record.slots[std::string(pool)] = read_numbers(&taken);
  record.gpus = read_numbers(base::find(body, "gpus"));
  return record;
}

std::string lease_key(const std::string& prefix, const std::string& owner) {
  return prefix + "/capacity/lease/" + owner;
}

std::vector<Record> read_leases(store::Store& store, const std::string& prefix) {
  std::vector<Record> records;
  store::ListQuery query{.prefix = prefix + "/capacity/lease/", .limit = 1000};
  for (;;) {
    store::Page page = store.list(query);
    for (const auto& document : page.documents) records.push_back(decode(document));
    if (page.next_token.empty()) return records;
    query.token = page.next_token;
  }
}

Lease to_lease(const Record& record) {
  Lease lease{.state = Lease::State::granted, .gpus = record.gpus};
  for (const auto& [pool, taken] : record.slots)
    lease.slots.insert(lease.slots.end(), taken.begin(), taken.end());
  return lease;
}

// The region's queue as one instant shows it.
class Books {
 public:
  Books(const std::vector<Pool>& pools, std::vector<Record> records)
      : pools_(pools), records_(std::move(records)) {}

  std::string pool_for(std::string_view type) const {
    for (const Pool& pool : pools_)
      if (std::find(pool.types.begin(), pool.types.end(), type) != pool.types.end())
        return pool.name;
    for (const Pool& pool : pools_)
      if (pool.types.empty()) return pool.name;
    return "";  // its pool was taken out of the configuration
  }
  Demand demand(const std::map<std::string, int>& instances) const {
    Demand demand;
    for (const auto& [type, count] : instances) demand[pool_for(type)] += count;
    return demand;
  }
  Demand sizes() const {
    Demand sizes;
    for (const Pool& pool : pools_) sizes[pool.name] = pool.count;
    return sizes;
  }
  // What a granted lease holds is what it was given, whatever the configuration says now.
  Demand holding(const Record& record) const {
    Demand held;
    for (const auto& [pool, taken] : record.slots) held[pool] = static_cast<int>(taken.size());
    return held;
  }
  std::vector<Verdict> verdicts(base::Timestamp now) const {
    std::vector<Held> held;
    std::vector<Waiting> waiting;
    for (const Record& record : records_) {
      if (record.granted) {
        Held holder{record.owner, holding(record), std::nullopt};
        if (record.at_most && record.granted_at)
          holder.until = *record.granted_at + *record.at_most;
        held.push_back(std::move(holder));
      } else {
        waiting.push_back({record.owner, demand(record.instances), record.priority, record.arrival,
                           record.at_most});
      }
    }
    return plan_grants(sizes(), held, std::move(waiting), now);
  }
  std::set<int> taken_slots(const std::string& pool) const {
    std::set<int> taken;
    for (const Record& record : records_)
      if (auto slots = record.slots.find(pool); record.granted && slots != record.slots.end())
        taken.insert(slots->second.begin(), slots->second.end());
    return taken;
  }
  // "requested 4, free 2 of 8; held by training/a (6); behind training/b"
  std::string reason(const Record& record, const Verdict& verdict) const {
    std::string text;
    for (const auto& [pool, wanted] : demand(record.instances)) {
      int size = 0;
      for (const Pool& each : pools_)
        if (each.name == pool) size = each.count;
      int used = static_cast<int>(taken_slots(pool).size());
      if (!text.empty()) text += "; ";
      if (pools_.size() > 1) text += "pool " + pool + ": ";
      text += "requested " + std::to_string(wanted) + ", free " +
              std::to_string(std::max(0, size - used)) + " of " + std::to_string(size);
      text += holders(pool);
    }
    if (!verdict.behind.empty()) {
      auto names = verdict.behind;
      if (verdict.ahead > names.size())
        names.push_back(std::to_string(verdict.ahead - names.size()) + " more");
      text += "; behind " + base::join(names, ", ");
    }
    return text;
  }
  void assign(Record& record) const {
    for (const auto& [name, wanted] : demand(record.instances)) {
      auto pool = std::find_if(pools_.begin(), pools_.end(),
                               [&, &name = name](const Pool& each) { return each.name == name; });
      std::set<int> taken = taken_slots(name);
      auto& slots = record.slots[name];
      for (int slot = 0; static_cast<int>(slots.size()) < wanted && slot < pool->count; ++slot)
        if (!taken.contains(slot)) slots.push_back(slot);
      for (int slot : slots)
        for (int device = 0; device < pool->gpus; ++device)
          record.gpus.push_back(slot * pool->gpus + device);
    }
  }
  std::vector<Record>& records() { return records_; }
  Record* find(const std::string& owner) {
    for (Record& record : records_)
      if (record.owner == owner) return &record;
    return nullptr;
  }

 private:
  static std::vector<std::string> first_few(std::vector<std::string> names) {
    constexpr std::size_t kShown = 5;
    if (names.size() > kShown) {
      std::string more = std::to_string(names.size() - kShown) + " more";
      names.resize(kShown);
      names.push_back(more);
    }
    return names;
  }
  std::string holders(const std::string& pool) const {
    std::vector<std::string> names;
    for (const Record& record : records_)
      if (auto slots = record.slots.find(pool); record.granted && slots != record.slots.end())
        names.push_back(record.owner + " (" + std::to_string(slots->second.size()) + ")");
    return names.empty() ? "" : "; held by " + base::join(first_few(names), ", ");
  }

  const std::vector<Pool>& pools_;
  std::vector<Record> records_;
};

Lease waiting_lease(const Books& books, const Record& record,
                    const std::vector<Verdict>& verdicts) {
  Lease lease;
  for (const Verdict& verdict : verdicts)
    if (verdict.owner == record.owner) lease.reason = books.reason(record, verdict);
  return lease;
}

}  // namespace

Capacity::Capacity(store::Store& store, const base::Clock& clock, std::string account_region_prefix,
                   std::vector<Pool> pools)
    : store_(store),
      clock_(clock),
      prefix_(std::move(account_region_prefix)),
      pools_(std::move(pools)) {
  if (pools_.empty()) pools_.push_back({.name = "default"});
}

const Pool* Capacity::find_pool(std::string_view type) const {
  for (const Pool& pool : pools_)
    if (std::find(pool.types.begin(), pool.types.end(), type) != pool.types.end()) return &pool;
  for (const Pool& pool : pools_)
    if (pool.types.empty() && find_instance_type(type)) return &pool;
  return nullptr;
}

const Pool& Capacity::pool_of(std::string_view type) const {
  if (const Pool* pool = find_pool(type)) return *pool;
  std::vector<std::string> names;
  for (const Pool& pool : pools_) names.push_back(pool.name);
  throw base::Error(base::Code::resource_exhausted,
                    "The requested resource training-job/" + std::string(type) +
                        " is not available in this region: no pool serves it (pools: " +
                        base::join(names, ", ") + "); add it to pools.<name>.types");
}

void Capacity::check_possible(const LeaseRequest& request) const {
  std::map<std::string, int> wanted;
  for (const auto& [type, count] : request.instances) wanted[pool_of(type).name] += count;
  for (const Pool& pool : pools_) {
    auto need = wanted.find(pool.name);
    if (need == wanted.end() || need->second <= pool.count) continue;
    throw base::Error(base::Code::resource_exhausted,
                      "requested " + std::to_string(need->second) + ", pool has " +
                          std::to_string(pool.count) + "; set pools." + pool.name +
                          ".count in config.yaml to raise it");
  }
}

Lease Capacity::request(const LeaseRequest& request) {
  check_possible(request);
  const std::string ledger_key = prefix_ + "/capacity/ledger";
  for (int attempt = 0; attempt < 64; ++attempt) {
    auto ledger = store_.find(ledger_key);  // before the leases: a grant in between changes it
    std::int64_t arrivals =
        ledger ? base::int_or(base::parse_stored_json(ledger->body, ledger_key), "arrivals", 0) : 0;
    Books books(pools_, read_leases(store_, prefix_));
    bool is_new = books.find(request.owner) == nullptr;
    if (is_new) {
      books.records().push_back({.owner = request.owner,
                                 .instances = request.instances,
                                 .priority = request.priority,
                                 .arrival = ++arrivals,
                                 .at_most = request.at_most});
    }
    Record& record = *books.find(request.owner);
    if (record.granted) return to_lease(record);
    auto verdicts = books.verdicts(clock_.now());
    bool grant = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.owner == request.owner && verdict.granted;
    });
    if (!grant && !is_new) return waiting_lease(books, record, verdicts);
    if (grant) {
      books.assign(record);
      record.granted = true;
      record.granted_at = clock_.now();
    }
    std::vector<store::Write> writes;
    writes.push_back(store::put(ledger_key, base::to_text(JsonObject{{"arrivals", arrivals}}), {},
                                ledger ? ledger->revision : 0));
    writes.push_back(store::put(lease_key(prefix_, request.owner), encode(record)));
    if (!store_.commit(std::move(writes))) continue;
    return grant ? to_lease(record) : waiting_lease(books, record, verdicts);
  }
  throw base::Error(base::Code::conflict, "the capacity ledger is too busy", base::Retry::yes);
}

std::optional<Lease> Capacity::find(const std::string& owner) {
  Books books(pools_, read_leases(store_, prefix_));
  Record* record = books.find(owner);
  if (!record) return std::nullopt;
  if (record->granted) return to_lease(*record);
  return waiting_lease(books, *record, books.verdicts(clock_.now()));
}

store::Write Capacity::release(const std::string& owner) {
  return store::remove(lease_key(prefix_, owner));
}

std::vector<store::Write> Capacity::hand_over(const std::string& from, const std::string& to,
                                              std::optional<base::Duration> at_most) {
  auto document = store_.find(lease_key(prefix_, from));
  auto taken = store_.find(lease_key(prefix_, to));
  if (!document || (taken && decode(*taken).granted)) return {};
  Record record = decode(*document);
  if (!record.granted) return {};
  record.owner = to;
  record.at_most = at_most;
  record.granted_at = clock_.now();
  return {store::remove(document->key, document->revision),
          store::put(lease_key(prefix_, to), encode(record), {}, taken ? taken->revision : 0)};
}

std::vector<std::string> Capacity::waiting_owners() {
  std::vector<std::string> owners;
  Books books(pools_, read_leases(store_, prefix_));
  for (const Verdict& verdict : books.verdicts(clock_.now())) owners.push_back(verdict.owner);
  return owners;
}

std::vector<std::string> Capacity::ready_owners() {
  std::vector<std::string> owners;
  Books books(pools_, read_leases(store_, prefix_));
  for (const Verdict& verdict : books.verdicts(clock_.now()))
    if (verdict.granted) owners.push_back(verdict.owner);
  return owners;
}

base::Json Capacity::snapshot() {
  Books books(pools_, read_leases(store_, prefix_));
  auto verdicts = books.verdicts(clock_.now());
  JsonArray pools, waiting;
  for (const Pool& pool : pools_) {
    JsonArray holders;
    for (const Record& record : books.records())
      if (auto slots = record.slots.find(pool.name); record.granted && slots != record.slots.end())
        holders.push_back(JsonObject{{"owner", record.owner},
                                     {"instances", slots->second.size()},
                                     {"slots", numbers(slots->second)}});
    auto used = books.taken_slots(pool.name).size();
    JsonArray types;
    for (const auto& type : pool.types) types.push_back(Json(type));
    pools.push_back(JsonObject{{"name", pool.name},
                               {"types", types},
                               {"count", pool.count},
                               {"used", used},
                               {"free", std::max<std::int64_t>(0, pool.count - std::int64_t(used))},
                               {"gpus", pool.gpus},
                               {"holders", holders}});
  }
  for (const Verdict& verdict : verdicts) {
    const Record& record = *books.find(verdict.owner);
    JsonObject entry{{"owner", verdict.owner},
                     {"priority", record.priority},
                     {"reason", books.reason(record, verdict)}};
    if (verdict.expected) entry["expected"] = verdict.expected->seconds();
    waiting.push_back(entry);
  }
  return JsonObject{{"pools", pools}, {"waiting", waiting}};
}

}  // namespace meridian::region::capacity
