// The small files of an instance's directory that outlive processes: who supervises it, how it
// stands, how it ended. Written whole (temporary file, sync, rename), additive only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/instance.h"

namespace meridian::run {

// run.json. A pid alone may be another process by now: the start time (clock ticks since boot) and
// the boot id say which one is meant.
struct SupervisorRecord {
  std::string id;
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  std::string boot_id;
  int protocol = 0;
};

// status.json, rewritten when the program starts.
struct RunningRecord {
  base::Timestamp started{};
  pid_t init_pid = 0;  // PID 1 of the instance, as the host numbers it; 0 = none (podman)
  std::vector<std::string> notes;
  std::map<std::string, std::string> cgroups;  // controller → directory
};

void write_supervisor_record(const std::filesystem::path& directory,
                             const SupervisorRecord& record);
std::optional<SupervisorRecord> find_supervisor_record(const std::filesystem::path& directory);
void write_running_record(const std::filesystem::path& directory, const RunningRecord& record);
std::optional<RunningRecord> find_running_record(const std::filesystem::path& directory);
void write_exit_status(const std::filesystem::path& directory, const ExitStatus& status);
std::optional<ExitStatus> find_exit_status(const std::filesystem::path& directory);

// Of a living process; nothing when there is none.
std::optional<std::uint64_t> find_start_time(pid_t pid);
std::string boot_id();

}  // namespace meridian::run
