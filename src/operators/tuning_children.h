// The trials of a tuning job as TrainingJob resources beside it.
//
// A trial's resource is a mirror (mirror_object.h) that belongs to the tuning job's by owner
// reference and label, so that `kubectl get trainingjobs -l meridian.dev/tuning-job=NAME` lists the
// trials and deleting the tuning job deletes them. A trial that is known is never asked for again
// here: its status is JobController's.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operators/remote.h"
#include "operators/resources.h"

namespace meridian::operators {

class TuningChildren {
 public:
  TuningChildren(Resources& trials, Remotes& remotes) : trials_(trials), remotes_(remotes) {}
  // Makes a resource for each trial that has none. `job`: the tuning job's name in the region.
  void bring(const base::Json& tuning, const std::string& job);

 private:
  std::vector<std::string> unknown(const base::Json& tuning, const std::string& job);
  void create(const base::Json& tuning, const std::string& trial);

  Resources& trials_;
  Remotes& remotes_;
};

}  // namespace meridian::operators
