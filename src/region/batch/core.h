// What the parts of a Batch region share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "region/batch/batch.h"
#include "region/batch/jobs/records.h"

namespace meridian::region::batch {

inline constexpr char kLogGroup[] = "/aws/batch/job";

// Why the first of a queue does not start, as the step saw it last.
struct Wait {
  std::string job;  // job or child
  std::string reason;
  base::Timestamp since{};
  struct Place {
    std::string arn, share;
    base::Timestamp since{};
  };
  std::vector<Place> front;  // the first hundred that are RUNNABLE
};

struct Core {
  Core(const Parts& the_parts, Settings the_settings);

  Parts parts;
  Settings settings;
  std::string prefix;  // of all documents here; ends with "/batch/"

  // For the step; volatile: resume() finds all of it again in the store.
  struct Inbox {
    std::vector<std::string> jobs;  // submitted
    bool requests = false;          // to end jobs
    bool queues = false;            // queues, environments or policies changed
  };
  base::Sync<Inbox> inbox;
  base::Sync<std::map<std::string, Wait>> waits;                // by queue
  base::Sync<std::map<std::string, identity::AccessKey>> keys;  // by job

  std::string arn(const std::string& type, const std::string& name) const;
  std::string step_key() const { return settings.step_kind + "/jobs"; }
  void wake() const { parts.runner.add(step_key()); }
  std::string lease_owner(const std::string& child) const { return "batch/" + child; }
  std::string key_owner(const std::string& job) const {
    return "batch/" + settings.region + "/" + job;
  }

  std::filesystem::path directory(const std::string& job) const {
    return settings.directory / "batch" / job;
  }
  std::filesystem::path attempt_directory(const std::string& job, const Run& run) const;
  // "R/batch/JOB/INDEX/ATTEMPT/node-N"
  std::string gang_id(const std::string& job, const Run& run) const;
  static std::string host_name(std::size_t node) { return "node-" + std::to_string(node); }
};

}  // namespace meridian::region::batch
