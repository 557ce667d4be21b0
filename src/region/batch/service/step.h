// The step of all service jobs of a region: takes up what is submitted, starts what fits, follows
// the trainings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "control/runner.h"
#include "region/batch/core.h"
#include "region/batch/service/record.h"

namespace meridian::region::batch {

class ServiceStep {
 public:
  ServiceStep(Core& core, aws::Service sagemaker) : core_(core), sagemaker_(std::move(sagemaker)) {}
  control::Outcome step(const control::Key& key);

 private:
  struct Room {
    std::string environment;
    std::int64_t most = 0, used = 0;
    bool enabled = false;
  };
  std::vector<ServiceRecord> open_jobs() const;
  std::map<std::string, Room> rooms(const std::vector<ServiceRecord>& jobs) const;
  void carry_on(ServiceRecord& job);
  void wait_or_start(ServiceRecord& job, Room& room);
  void start(ServiceRecord& job);
  void follow(ServiceRecord& job);
  void end_attempt(ServiceRecord& job, const std::string& reason, bool succeeded);
  bool save(ServiceRecord& job);
  base::Json call(const std::string& operation, const base::JsonObject& input) const;

  Core& core_;
  aws::Service sagemaker_;
};

}  // namespace meridian::region::batch
