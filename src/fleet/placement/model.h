// A problem with numbers for names, and the options of every row: what the solvers work on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "fleet/placement/problem.h"

namespace meridian::fleet::placement {

// Why an offer is no option for a row, whatever the other rows do.
enum class Refusal {
  none,
  elsewhere,     // the row is fixed to another region, or kept with its data
  residency,     // not one of the allowed regions
  no_pool,       // no instances of the type there
  too_small,     // the pool has fewer instances than the gang
  no_price,      // and the others have one, or a budget asks for it
  no_spot,       // by policy
  zone_avoided,  // it reclaimed a short time ago
  no_link,       // the data cannot be copied there
  never_ends,    // reclaimed faster than it goes on
  deadline,      // ends after it even when started at once
  budget,        // costs more than the hard budget alone
};

struct Option {
  int region = 0, pool = 0;
  int offer = -1;    // in the region; -1 = on demand, without a price
  int copy = -1;     // Model::copies; -1 = the data is there
  double hours = 0;  // expected, with what reclaims cost
  double need = 0;   // from the start to the deadline
  double instances_usd = 0, lost_usd = 0;
  bool priced = true;
  double usd() const { return instances_usd + lost_usd; }
};

struct Judgement {
  Refusal refusal = Refusal::none;
  Option option;
};

// One set of data in one region that does not have it, by the link that is cheapest.
struct Copy {
  int data = 0, region = 0, link = 0;
  double hours = 0, usd = 0;
  int users = 0;  // rows with an option that needs it
};

class Model {
 public:
  explicit Model(const Problem& problem);  // checked; lives longer

  const Problem& problem;
  std::vector<std::vector<Option>> options;  // by row
  std::vector<int> gangs;                    // by row
  std::vector<int> slots;                    // by pool; no more than all rows could use
  std::vector<Copy> copies;
  double deadline = 0, budget = 0;  // infinite = none

  // Every offer of every region for that row, in their order.
  std::vector<Judgement> judge(std::size_t row) const;
  int capacity(int pool) const { return capacity_[static_cast<std::size_t>(pool)]; }

 private:
  struct Served {
    int pool = -1;
    std::vector<int> offers;  // -1 = the one on demand that nobody lists
  };
  Judgement judge(const Row& row, int region, const Served& served, int offer) const;
  bool keeps_away(const Row& row, int region, Refusal& why) const;
  void add_copies();
  void serve_types(const std::vector<int>& first_pool);
  void add_options();
  int find_copy(const Row& row, int region) const;  // -1 = there; -2 = no way

  std::map<std::string, std::vector<Served>, std::less<>> served_;  // type → by region
  std::map<std::string, int, std::less<>> data_;
  std::vector<std::vector<int>> copy_of_;  // data → by region: as find_copy
  std::vector<int> capacity_;              // by pool
};

}  // namespace meridian::fleet::placement
