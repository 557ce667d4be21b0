// Why a gang waits, and what a region holds, for people.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "region/capacity/books.h"

namespace meridian::region::capacity {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kNamed = 5;

// "a, b, c, d, e, 7 more" of `names`, which holds the first few of `count`.
std::string listed(std::vector<std::string> names, std::size_t count) {
  if (count > names.size()) names.push_back(std::to_string(count - names.size()) + " more");
  return base::join(names, ", ");
}

std::string holders_text(const std::map<std::string, int>& holders) {
  std::vector<std::string> names;
  for (const auto& [owner, slots] : holders) {
    if (names.size() == kNamed) break;
    names.push_back(owner + " (" + std::to_string(slots) + ")");
  }
  return names.empty() ? "" : "; held by " + listed(std::move(names), holders.size());
}

}  // namespace

std::string Books::ahead_of(const Entry& entry) const {
  std::vector<std::string> names;
  std::size_t count = 0;
  if (entry.demand.size() == 1) {
    const Queue& queue = books_.at(entry.demand.begin()->first).queue;
    count = queue.order_of_key(entry.place());
    for (std::size_t i = 0; i < std::min(count, kNamed); ++i)
      names.push_back(queue.find_by_order(i)->owner);
  } else {  // one that waits in several queues counts once: a walk, for gangs of several types only
    for (const auto& [place, other] : queue_) {
      if (other == &entry) break;
      const bool shares = std::ranges::any_of(
          entry.demand, [&](const auto& need) { return other->demand.contains(need.first); });
      if (shares && ++count <= kNamed) names.push_back(place.owner);
    }
  }
  return count == 0 ? "" : listed(std::move(names), count);
}

// "requested 4, free 2 of 8; held by training/a (6); behind training/b"
std::string Books::reason(const Entry& entry) const {
  std::string text;
  for (const auto& [pool, wanted] : entry.demand) {
    const PoolBook& book = books_.at(pool);
    if (!text.empty()) text += "; ";
    if (pools_.size() > 1) text += "pool " + pool + ": ";
    text += "requested " + std::to_string(wanted) + ", free " +
            std::to_string(std::max(0, book.size() - book.used)) + " of " +
            std::to_string(book.size()) + holders_text(book.holders);
  }
  if (const std::string ahead = ahead_of(entry); !ahead.empty()) text += "; behind " + ahead;
  return text;
}

Lease Books::waiting_lease(const Entry& entry) const {
  Lease lease{.reason = reason(entry), .reclaim = to_reclaim(entry)};
  if (!lease.reclaim.empty())
    lease.reason += "; taking back " +
                    listed({lease.reclaim.begin(), lease.reclaim.end()}, lease.reclaim.size());
  return lease;
}

base::Json Books::snapshot(base::Timestamp now) {
  make_plan(now);
  JsonArray pools, waiting;
  for (const Pool& pool : pools_) {
    const PoolBook& book = books_.at(pool.name);
    JsonArray holders, types;
    for (const auto& [owner, count] : book.holders) {
      JsonArray slots;
      for (int slot : held_.at(owner)->record.slots.at(pool.name)) slots.push_back(slot);
      holders.push_back(JsonObject{{"owner", owner}, {"instances", count}, {"slots", slots}});
    }
    for (const auto& type : pool.types) types.push_back(Json(type));
    pools.push_back(JsonObject{{"name", pool.name},
                               {"types", types},
                               {"count", pool.count},
                               {"used", book.used},
                               {"free", std::max(0, pool.count - book.used)},
                               {"gpus", pool.gpus},
                               {"holders", holders}});
  }
  for (const auto& [place, entry] : queue_) {
    JsonObject told{
        {"owner", place.owner}, {"priority", place.priority}, {"reason", reason(*entry)}};
    if (const auto when = expected(*entry)) told["expected"] = when->seconds();
    waiting.push_back(std::move(told));
  }
  return JsonObject{{"pools", pools}, {"waiting", waiting}};
}

}  // namespace meridian::region::capacity
