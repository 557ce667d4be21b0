// How the ranks of a job are started: which launcher, and what it has to know.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "run/script/launcher_parts.h"
#include "run/script/tensorflow_cluster.h"

namespace meridian::run {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"plain", "mpi", "torch", "xla",
                                                    "parameter_server"};

int number_of(const std::string& name, const std::string& text, int most) {
  const auto value = base::to_int(text);
  if (!value || *value < 1 || *value > most) {
    throw base::Error(base::Code::invalid_argument,
                      "hyperparameter " + name + " must be a number from 1 to " +
                          std::to_string(most) + ", not '" + text + "'");
  }
  return static_cast<int>(*value);
}

int processes_per_host(const ScriptJob& job, const std::string& name) {
  const auto text = find_setting(job, name);
  if (!text || text->empty()) return std::max(1, job.gpus);
  return number_of(name, *text, 4096);
}

bool flag(const ScriptJob& job, const std::string& name) {
  const std::string text = base::to_lower(find_setting(job, name).value_or("false"));
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0" || text.empty()) return false;
  throw base::Error(base::Code::invalid_argument,
                    "hyperparameter " + name + " must be true or false, not '" + text + "'");
}

bool takes_part(const ScriptJob& job) {
  const auto groups = find_distribution_groups(job);
  return !groups || groups->contains(job.current_group);
}

LaunchKind kind_of(const ScriptJob& job, std::size_t hosts) {
  if (!takes_part(job)) return LaunchKind::plain;
  if (flag(job, "sagemaker_mpi_enabled") || flag(job, "sagemaker_pytorch_ddp_enabled") ||
      flag(job, "sagemaker_distributed_dataparallel_enabled")) {
    return LaunchKind::mpi;
  }
  if (flag(job, "sagemaker_pytorch_xla_multi_worker_enabled")) return LaunchKind::xla;
  if (flag(job, "sagemaker_torch_distributed_enabled")) return LaunchKind::torch;
  // Alone there is nobody to share parameters with.
  if (flag(job, "sagemaker_parameter_server_enabled") && hosts > 1)
    return LaunchKind::parameter_server;
  return LaunchKind::plain;
}

void add_mpi(const ScriptJob& job, std::map<std::string, std::string>& environment) {
  std::string options = find_setting(job, "sagemaker_mpi_custom_mpi_options").value_or("");
  if (options.empty()) {
    options =
        find_setting(job, "sagemaker_distributed_dataparallel_custom_mpi_options").value_or("");
  }
  environment[launch_variables::mpi_options] = options;
  environment[launch_variables::processes] =
      std::to_string(processes_per_host(job, "sagemaker_mpi_num_of_processes_per_host"));
  const std::string all = "sagemaker_mpi_num_processes";
  if (const auto text = find_setting(job, all); text && !text->empty()) {
    environment[launch_variables::all_processes] =
        std::to_string(number_of(all, *text, 4096 * 128));
  }
  environment.merge(mpi_environment());
}

void check_xla(const ScriptJob& job) {
  if (job.gpus > 0) return;
  throw base::Error(base::Code::invalid_argument,
                    "sagemaker_pytorch_xla_multi_worker_enabled needs GPUs: PyTorch/XLA starts one "
                    "process for each, and the instance has none");
}

void add_tensorflow(const ScriptJob& job, LaunchKind kind, const std::vector<std::string>& hosts,
                    std::map<std::string, std::string>& environment) {
  if (hosts.size() < 2 || !takes_part(job)) return;
  if (kind == LaunchKind::parameter_server) {
    environment["TF_CONFIG"] =
        tf_config(TensorFlowStrategy::parameter_server, hosts, job.current_host);
  } else if (kind == LaunchKind::plain &&
             flag(job, "sagemaker_multi_worker_mirrored_strategy_enabled")) {
    environment["TF_CONFIG"] = tf_config(TensorFlowStrategy::mirrored, hosts, job.current_host);
  }
}

}  // namespace

std::map<std::string, std::string> mpi_environment() {
  // Instances of one machine share its cores: bound ranks would all sit on core 0.
  return {{"OMPI_MCA_plm_rsh_agent", std::string(kInit) + " rsh"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"OMPI_MCA_mpi_yield_when_idle", "1"},
          {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
}

std::string_view name(LaunchKind kind) { return kNames.at(static_cast<std::size_t>(kind)); }

std::optional<LaunchKind> find_launch_kind(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LaunchKind>(found - kNames.begin());
}

Launch plan_launch(const ScriptJob& job) {
  if (find_setting(job, "sagemaker_program").value_or("").empty()) {
    throw base::Error(base::Code::invalid_argument,
                      "hyperparameter sagemaker_program (the entry point, such as train.py) is "
                      "missing");
  }
  const auto groups = find_distribution_groups(job);
  const auto members = hosts_of(job, groups ? &*groups : nullptr);
  Launch launch;
  launch.kind = kind_of(job, members.size());
  launch.argv = {kInit, "script"};
  launch.environment = script_environment(job);
  launch.environment[launch_variables::kind] = name(launch.kind);
  launch.environment[launch_variables::python] = job.python;
  const auto hosts = launch.kind == LaunchKind::plain ? hosts_of(job, nullptr) : members;
  launch.environment[launch_variables::hosts] =
      base::to_text(base::JsonArray(hosts.begin(), hosts.end()));
  if (const auto interface = find_setting(job, "sagemaker_network_interface_name"))
    launch.environment[launch_variables::interface] = *interface;
  if (launch.kind == LaunchKind::mpi) add_mpi(job, launch.environment);
  if (launch.kind == LaunchKind::xla) check_xla(job);
  if (launch.kind == LaunchKind::torch)
    launch.environment[launch_variables::processes] =
        std::to_string(processes_per_host(job, "sagemaker_torch_processes_per_host"));
  add_tensorflow(job, launch.kind, members, launch.environment);
  return launch;
}

}  // namespace meridian::run
