// Where the rows of an array may run, and what that would cost: the question that make_plan()
// (plan.h) answers.
//
// Money is USD, data GB (1e9 bytes), time hours from now. Names (regions, types, data) are compared
// as they are. Nothing here is looked up: who asks gives prices, capacities and speeds, with their
// dates and sources kept on their side.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::fleet::placement {

enum class Market { on_demand, spot };
std::string_view name(Market market);  // "on-demand", "spot"

// Where the rows go:
enum class Objective {
  pinned,  // each in Row::fixed
  data,    // each where its data is; the cheapest of these
  cost,    // least money, within the deadline
  time,    // all done soonest, then least money
};

enum class SpotPolicy {
  never,
  when_it_pays,  // wherever its expected cost is less
  deadline,      // as before, but only while the row could still be done on demand in time
};

// What rows read. A copy in another region is made once, by the first row there that needs it.
struct Data {
  std::string name;
  std::optional<double> gigabytes;   // nothing = not known: it cannot be copied
  std::vector<std::string> regions;  // that have it
};

struct Row {
  std::string id;
  std::string data;                         // Data::name; empty = none
  double hours = 0;                         // of the whole gang, without interruption
  std::string type;                         // of instance
  int instances = 1;                        // the gang
  std::vector<std::string> allowed;         // residency: regions; empty = all
  std::string fixed;                        // the one region; empty = any
  std::optional<double> images_per_second;  // what `hours` was worked out from (throughput.h)
};

// Instances that types share.
struct Pool {
  std::vector<std::string> types;  // empty = all
  int instances = 0;               // free now
  int reserved = 0;                // of these, kept for others
};

struct Offer {
  std::string type;
  Market market = Market::on_demand;
  std::string zone;                           // of spot; may be empty
  std::optional<double> price;                // per instance and hour; nothing = not known
  double reclaims_per_hour = 0;               // of one instance; of spot; 0 = not known
  std::optional<double> reclaimed_hours_ago;  // the zone's last reclaim
};

struct Region {
  std::string name;
  std::vector<Pool> pools;
  std::vector<Offer> offers;
};

// Copies over one link are made one after another.
struct Link {
  std::string from, to;
  double usd_per_gb = 0, mb_per_second = 0;  // speed > 0
};

struct Checkpoints {
  double every_hours = 0.25;   // between two of them
  double write_hours = 0.005;  // one takes
  double restart_hours = 0.1;  // from a reclaim until work goes on
};

struct Settings {
  Objective objective = Objective::pinned;
  std::optional<double> deadline_hours;
  std::optional<double> soft_usd;  // kept where every row can be placed within it
  std::optional<double> hard_usd;  // never passed: rows beyond it wait
  SpotPolicy spot = SpotPolicy::when_it_pays;
  double avoid_hours = 1;  // no spot in a zone that reclaimed within this time
  Checkpoints checkpoints;
  long search_nodes = 100'000;  // how long the exact search looks (plan.h)
};

struct Problem {
  std::vector<Row> rows;
  std::vector<Data> data;
  std::vector<Region> regions;
  std::vector<Link> links;
  Settings settings;
};

// Error(invalid_argument): a name that is not there or there twice, a count or a time below zero,
// a link without speed; with the row, region or link.
void check(const Problem& problem);

}  // namespace meridian::fleet::placement
