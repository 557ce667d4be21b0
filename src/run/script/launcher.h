// Turns a training request's entry point into the command of each instance, and its SM_*
// environment: plain script, MPI, torch.distributed, PyTorch/XLA, TensorFlow's strategies
// (contract §3.4–3.6).
//
// Pure: values in, values out. The programs it names (the launch agent, the script runner) are
// parts of meridian-init, which is bound read-only at /opt/meridian/bin inside.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "run/instance.h"

namespace meridian::run {

struct GroupHosts {
  std::string name, instance_type;
  std::vector<std::string> hosts;
};

// What the launcher needs of the request; paths are those inside.
struct ScriptJob {
  std::string job_name, job_arn, region;
  std::vector<GroupHosts> groups;
  std::string current_host, current_group;
  std::map<std::string, std::string> hyperparameters;   // as sent
  std::map<std::string, std::string> environment;       // the request's Environment
  std::map<std::string, base::Json> input_data_config;  // channel → its inputdataconfig.json entry
  int cpus = 1, gpus = 0;
  std::string network_interface = "eth0";
  std::string python = "/usr/bin/python3";
};

enum class LaunchKind {
  plain,
  mpi,
  torch,
  xla,               // PyTorch/XLA's own launcher on each host
  parameter_server,  // TensorFlow: the script, and a parameter server beside it, on each host
};

std::string_view name(LaunchKind kind);
std::optional<LaunchKind> find_launch_kind(std::string_view name);

struct Launch {
  LaunchKind kind = LaunchKind::plain;
  std::vector<std::string> argv;  // what this instance runs
  std::map<std::string, std::string>
      environment;  // SM_* and the launcher's own; merged over the base
};

// Typed hyperparameters (JSON where it parses, else the text), without the sagemaker_* ones.
base::JsonObject user_hyperparameters(const std::map<std::string, std::string>& all);
// "--key value" words, sorted by key (contract §3.4).
std::vector<std::string> command_line(const base::JsonObject& user_hyperparameters);
std::map<std::string, std::string> script_environment(const ScriptJob& job);
// Error(invalid_argument) when sagemaker_program is missing or a flag has a bad value.
//
// MPI and torch start `sagemaker_mpi_num_of_processes_per_host` respectively
// `sagemaker_torch_processes_per_host` (ours: AWS has none) ranks on each host; by default one per
// GPU, or one; `sagemaker_mpi_num_processes` is MPI's number of ranks in all. Hosts outside
// `sagemaker_distribution_instance_groups` run the script plainly. With TensorFlow's parameter
// servers or multi-worker mirrored strategy several hosts find each other in TF_CONFIG.
Launch plan_launch(const ScriptJob& job);
// What Open MPI has to be told on an instance, whoever starts it: images too.
std::map<std::string, std::string> mpi_environment();

// How plan_launch() speaks to `meridian-init script`; both ends are in this folder.
namespace launch_variables {
inline constexpr char kind[] = "MERIDIAN_LAUNCH";                    // name() of the kind
inline constexpr char hosts[] = "MERIDIAN_LAUNCH_HOSTS";             // JSON list, master first
inline constexpr char processes[] = "MERIDIAN_PROCESSES_PER_HOST";   // ranks on each host
inline constexpr char all_processes[] = "MERIDIAN_PROCESSES";        // MPI ranks in all, if given
inline constexpr char interface[] = "MERIDIAN_NETWORK_INTERFACE";    // if given
inline constexpr char mpi_options[] = "MERIDIAN_MPI_OPTIONS";        // as the user wrote them
inline constexpr char python[] = "MERIDIAN_PYTHON";                  // interpreter
inline constexpr char rendezvous[] = "MERIDIAN_RENDEZVOUS_SECONDS";  // wait for the other hosts
}  // namespace launch_variables

}  // namespace meridian::run
