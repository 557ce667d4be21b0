// What each instance of a gang is started with: a function of the record, the settings, and which
// channels have an index (fast_file.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "identity/identity.h"
#include "region/training/core.h"

namespace meridian::region::training {

// Facts that are not in the record.
struct LaunchFacts {
  identity::AccessKey keys;                                // temporary, of this job
  int cores = 1;                                           // of this machine
  std::map<std::string, std::filesystem::path> log_files;  // host → file
};

// Error(invalid_argument) when the hyperparameters do not make a command.
run::InstanceSpec instance_spec(const Core& core, const JobRecord& record, const JobSpec& spec,
                                const HostSlot& slot, const LaunchFacts& facts);

// The devices of host `index` among the job's.
std::vector<int> gpus_of(const JobRecord& record, const JobSpec& spec, std::size_t index);
// Where instance N of a gang is found: 127.0.1.1 …
std::string host_address(std::size_t index);

}  // namespace meridian::region::training
