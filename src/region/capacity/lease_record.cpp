// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/lease_record.h"

#include "base/json.h"

namespace meridian::region::capacity {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

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

}  // namespace

std::optional<base::Timestamp> Record::until() const {
  if (!granted_at || !at_most) return std::nullopt;
  return *granted_at + *at_most;
}

std::string encode(const Record& record) {
  JsonObject instances, slots;
  for (const auto& [type, count] : record.instances) instances[type] = count;
  for (const auto& [pool, taken] : record.slots) slots[pool] = numbers(taken);
  JsonObject body{{"owner", record.owner},       {"instances", std::move(instances)},
                  {"priority", record.priority}, {"arrival", record.arrival},
                  {"granted", record.granted},   {"slots", std::move(slots)},
                  {"gpus", numbers(record.gpus)}};
  if (record.reclaimable) body["reclaimable"] = true;
  if (record.at_most) body["at_most_ms"] = record.at_most->count();
  if (record.granted_at) body["granted_at"] = record.granted_at->ms;
  return base::to_text(body);
}

Record decode(const store::Document& document) {
  const Json body = base::parse_stored_json(document.body, document.key);
  Record record;
  record.owner = base::string_or(body, "owner");
  if (const Json* instances = base::find(body, "instances"))
    for (const auto& [type, count] : instances->as_object())
      record.instances[std::string(type)] = static_cast<int>(count.as_int64());
  record.priority = static_cast<int>(base::int_or(body, "priority", 0));
  record.reclaimable = base::bool_or(body, "reclaimable", false);
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

Lease to_lease(const Record& granted) {
  Lease lease{.state = Lease::State::granted, .gpus = granted.gpus};
  for (const auto& [pool, taken] : granted.slots)
    lease.slots.insert(lease.slots.end(), taken.begin(), taken.end());
  return lease;
}

}  // namespace meridian::region::capacity
