// What the hosts of one attempt use, as their host metrics: CPU, memory, disk, GPUs.
//
// Disk is what counts against ResourceConfig.VolumeSizeInGB: the files that the program has written
// (/opt/ml, /tmp, synced directories) and its channels in File mode, in the blocks they take.
// Without a VolumeSizeInGB it is measured against the disk that holds the job.
//
// GPUs are asked for only when the job has some.
//
// Blocking: the work of an activity. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/sync.h"
#include "region/training/core.h"

namespace meridian::region::training {

class Meter {
 public:
  Meter(Core& core, const JobRecord& record, const JobSpec& spec);

  // running: the first one is what later ones are compared with. ended: no GPU works any more.
  enum class Moment { running, ended };
  // A figure that cannot be had is left out; nothing is thrown.
  void measure(Moment moment, std::stop_token stop);

 private:
  struct Host {
    std::string name, id;
    std::filesystem::path instance;
    std::vector<std::filesystem::path> channels;  // staged: they do not change
    std::optional<std::uint64_t> channel_bytes;   // once they were measured
    std::vector<int> gpus;
    double cpus = 0;
    run::Usage before;
  };
  struct State {
    std::vector<Host> hosts;
    std::optional<base::Ticks> measured;
  };
  void measure_host(Host& host, double seconds, std::stop_token stop);
  void measure_gpus(const std::vector<Host>& hosts);

  Core& core_;
  const std::string job_;
  std::uint64_t volume_bytes_ = 0;
  base::Sync<State> state_;
};

// The blocks of everything below `directory`, in bytes; links are not followed. 0 when it is not
// there.
std::uint64_t measure_directory(const std::filesystem::path& directory, std::stop_token stop);

}  // namespace meridian::region::training
