// Applies the life cycle rules of all buckets: once an hour, and soon after they change.
//
//   LifecycleKeeper keeper(stores, clock);   // a thread, until it is destroyed
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "s3/store/lifecycle.h"

namespace meridian::s3 {

// What the keeper does when it looks around; apart from its thread, so that tests need none.
class LifecycleRounds {
 public:
  LifecycleRounds(std::vector<ObjectStore*> stores, const base::Clock& clock)
      : stores_(std::move(stores)), clock_(clock) {}

  // Sweeps the buckets that are due. A bucket that fails is logged, and due again in an hour.
  LifecycleCounts step(std::stop_token stop = {});

 private:
  struct Swept {
    base::Timestamp at{};
    std::string document;  // the rules that were applied
  };
  bool is_due(const Swept& before, const std::string& document) const;

  std::vector<ObjectStore*> stores_;
  const base::Clock& clock_;
  std::map<std::pair<std::string, std::string>, Swept> swept_;  // by region and bucket
};

class LifecycleKeeper {
 public:
  LifecycleKeeper(std::vector<ObjectStore*> stores, const base::Clock& clock);

 private:
  LifecycleRounds rounds_;
  std::jthread thread_;
};

}  // namespace meridian::s3
