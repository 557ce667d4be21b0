// What `meridian-init script` is to start, worked out from its environment: pure functions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/script/launcher.h"

namespace meridian::run {

struct ScriptPlan {
  LaunchKind kind = LaunchKind::plain;
  std::vector<std::string> hosts;  // that take part, master first
  std::string current_host;
  int processes_per_host = 1, cpus = 1, gpus = 0;
  int all_processes = 0;  // of MPI; 0 = processes_per_host on each host
  std::string mpi_options, interface = "eth0";
  std::string python, program, module;
  std::vector<std::string> arguments;

  bool is_master() const { return hosts.empty() || hosts.front() == current_host; }
  int host_index() const;
};

using Lookup = std::function<std::optional<std::string>(const std::string& name)>;
// From the variables that plan_launch() made. Error(invalid_argument) names the one that is wrong.
ScriptPlan read_script_plan(const Lookup& variable);

enum class Entry { python_file, module, command };

// The user's program on one rank: `python train.py …`, `python -m train …`, or a shell that runs
// `./program …` with every argument intact. `through_mpi4py` makes uncaught exceptions abort all
// ranks.
std::vector<std::string> user_command(const ScriptPlan& plan, Entry entry,
                                      bool through_mpi4py = false);

// What torch.distributed's env:// initialisation reads, for one local rank, with the other
// variables that torchrun sets; and the rank's share of the host's processors, because every rank
// would start a thread for each of them.
std::map<std::string, std::string> torch_environment(const ScriptPlan& plan, int local_rank);

// PyTorch/XLA's launcher, which starts a process for each GPU of this host, and how the hosts find
// each other (contract §3.6).
std::vector<std::string> xla_command(const ScriptPlan& plan);
std::map<std::string, std::string> xla_environment(const ScriptPlan& plan);

// mpirun over all hosts (contract §3.5). `has_interface`: whether plan.interface exists here.
// Error(invalid_argument) when the custom options have an unfinished quote.
std::vector<std::string> mpirun_command(const ScriptPlan& plan,
                                        const std::vector<std::string>& rank_command,
                                        bool has_interface,
                                        const std::vector<std::string>& exported);

// "[1,3]<stdout>:text" of `mpirun --tag-output` → "[1,mpirank:3,algo-2]<stdout>:text".
std::string name_rank(const ScriptPlan& plan, std::string_view line);

// The ranks' own words among what mpirun wrote to its standard error, tags taken off; everything
// when no rank said anything.
std::string rank_errors(std::string_view errors);

// The text of /opt/ml/output/failure.
std::string failure_text(int exit_code, std::string_view last_errors,
                         const std::vector<std::string>& command);

}  // namespace meridian::run
