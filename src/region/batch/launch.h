// What each node of an attempt is started with: a function of the job, the settings and the program
// that was chosen.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "region/batch/core.h"
#include "region/batch/jobs/spec.h"
#include "region/training/image.h"
#include "run/instance.h"

namespace meridian::region::batch {

struct LaunchFacts {
  identity::AccessKey keys;                      // temporary, of the job
  std::vector<training::Program> programs;       // one per node
  std::vector<std::filesystem::path> log_files;  // one per node
  std::vector<int> gpus;                         // of the whole attempt
};

// The programs of a job's images. Blocks (podman). Error(invalid_argument): there is none.
std::vector<training::Program> choose_programs(const Core& core, const JobSpec& spec);

run::InstanceSpec instance_spec(const Core& core, const JobRecord& job, const JobSpec& spec,
                                const Run& run, std::size_t node, const LaunchFacts& facts);
// Of the node's stream: that of the run, with the node's number where there are several.
std::string log_stream(const JobSpec& spec, const Run& run, std::size_t node);

}  // namespace meridian::region::batch
