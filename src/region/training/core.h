// What the parts of a training region share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/sync.h"
#include "region/training/records.h"
#include "region/training/request.h"
#include "region/training/training.h"

namespace meridian::region::training {

inline constexpr std::string_view kLogGroup = "/aws/sagemaker/TrainingJobs";

struct Core {
  Core(const Parts& the_parts, Settings the_settings);

  Parts parts;
  Settings settings;
  Records records;
  // How far the staging of jobs is; volatile.
  base::Sync<std::map<std::string, s3::Progress>> staging;

  std::string prefix() const { return settings.account + "/" + settings.region; }
  std::string step_key(const std::string& job) const { return settings.step_kind + "/" + job; }
  // As capacity knows the job.
  static std::string lease_owner(const std::string& job) { return "training/" + job; }
  static std::string warm_owner(const std::string& job) { return "warm/" + job; }
  // As identity knows the owner of its temporary keys.
  std::string key_owner(const std::string& job) const {
    return "job/" + settings.region + "/" + job;
  }
  std::string arn(const std::string& job) const;
  // Everything of the job; the uid keeps a deleted job's name apart from its next use.
  std::filesystem::path directory(const JobRecord& record) const;
  std::filesystem::path attempt_directory(const JobRecord& record) const;
  std::filesystem::path instance_directory(const JobRecord& record, const std::string& host) const;
  std::string gang_id(const JobRecord& record) const;
  std::string instance_id(const JobRecord& record, const std::string& host) const;
  // The pool of the type; an unlimited one when the configuration lost it since the job began.
  capacity::Pool pool_for(const std::string& type) const;
  // Adds the keys of jobs that wait for instances.
  void wake_waiting();
};

// The timings with the time since they were last saved.
Timings live_timings(const JobRecord& record, const Core& core);

// "list-price equivalent $1.23 (…)" or "no price for ml.m5.large".
struct Cost {
  std::optional<double> usd;
  std::string text;
};
Cost cost_of(const JobRecord& record, const JobSpec& spec, const Core& core);

}  // namespace meridian::region::training
