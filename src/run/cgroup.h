// Limits and accounts of one instance: control groups of version 2 or 1, whichever controllers the
// machine has and this user may use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "run/instance.h"

namespace meridian::run {

class Cgroup {
 public:
  // Makes what it can; a limit that cannot be set becomes a note, never an error.
  Cgroup(const std::string& instance_id, const Limits& limits, std::vector<std::string>& notes);

  void add(pid_t pid) const;
  bool killed_for_memory() const;
  void remove() const;  // once no process is left
  // controller ("memory", "cpu", "cpuacct", "pids") → its directory
  const std::map<std::string, std::string>& directories() const { return directories_; }

 private:
  std::map<std::string, std::string> directories_;
};

void remove_cgroups(const std::map<std::string, std::string>& directories);
// CPU seconds and memory of an instance's groups; zeros where there is no group.
Usage read_cgroup_usage(const std::map<std::string, std::string>& directories);

}  // namespace meridian::run
