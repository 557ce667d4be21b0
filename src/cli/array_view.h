// An array of trainings as its follower sees it: what is new, and a table by region. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace meridian::cli {

class ArrayView {
 public:
  void resource(const base::Json& object);  // the TrainingArray
  // Columns region, state, jobs, cost, images_per_second; a row per region and state.
  void rows(const base::Json& answer);

  bool ended() const;
  bool succeeded() const { return phase_ == "Completed"; }
  std::vector<std::string> news();         // lines since the last call
  std::vector<std::string> block() const;  // the table, and totals

 private:
  struct Region {
    std::map<std::string, std::int64_t> jobs;  // by state
    double cost = 0, images_per_second = 0;
  };
  std::string phase_, waiting_, refusal_;
  std::map<std::string, Region> regions_;
  std::map<std::string, std::string> failures_;  // key → reason
  std::vector<std::string> news_;
};

}  // namespace meridian::cli
