// SPDX-License-Identifier: Apache-2.0
#include "run/script/script_plan.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "run/script/shell_words.h"

namespace meridian::run {
namespace {

constexpr std::size_t kMaxErrorText = 700;  // FailureReason holds 1024 characters in all

[[noreturn]] void refuse(const std::string& name, const std::string& value) {
  throw base::Error(base::Code::invalid_argument,
                    "environment variable " + name + " has the bad value '" + value + "'");
}

std::vector<std::string> text_list(const Lookup& variable, const std::string& name) {
  const std::string text = variable(name).value_or("[]");
  const auto parsed = base::parse_json(text);
  if (!parsed || !parsed->is_array()) refuse(name, text);
  std::vector<std::string> out;
  for (const auto& item : parsed->as_array()) {
    if (!item.is_string()) refuse(name, text);
    out.emplace_back(base::view(item.as_string()));
  }
  return out;
}

// `--NCCL_DEBUG=LEVEL` is not mpirun's: it sets the level of NCCL's own log.
std::string take_nccl_level(std::vector<std::string>& options) {
  constexpr std::string_view kPrefix = "--NCCL_DEBUG=";
  std::string level = "WARN";
  std::erase_if(options, [&](const std::string& word) {
    if (!word.starts_with(kPrefix)) return false;
    level = word.substr(kPrefix.size());
    return true;
  });
  return level;
}

void add_mca(std::vector<std::string>& words, const std::vector<std::string>& custom,
             const char* name, const std::string& value) {
  // The user's value wins: mpirun refuses a parameter that is given twice with two values.
  if (std::ranges::find(custom, name) != custom.end()) return;
  words.insert(words.end(), {"-mca", name, value});
}

std::string host_list(const ScriptPlan& plan) {
  std::vector<std::string> hosts;
  for (const std::string& host : plan.hosts) {
    hosts.push_back(
        plan.processes_per_host == 1 ? host : host + ":" + std::to_string(plan.processes_per_host));
  }
  return base::join(hosts, ",");
}

}  // namespace

int ScriptPlan::host_index() const {
  const auto it = std::ranges::find(hosts, current_host);
  return it == hosts.end() ? 0 : static_cast<int>(it - hosts.begin());
}

ScriptPlan read_script_plan(const Lookup& variable) {
  ScriptPlan plan;
  const std::string kind = variable(launch_variables::kind).value_or("plain");
  const auto known = find_launch_kind(kind);
  if (!known) refuse(launch_variables::kind, kind);
  plan.kind = *known;
  plan.hosts = text_list(variable, launch_variables::hosts);
  plan.current_host = variable("SM_CURRENT_HOST").value_or("");
  const std::string processes = variable(launch_variables::processes).value_or("1");
  const auto count = base::to_int(processes);
  if (!count || *count < 1 || *count > 4096) refuse(launch_variables::processes, processes);
  plan.processes_per_host = static_cast<int>(*count);
  plan.all_processes = static_cast<int>(
      base::to_int(variable(launch_variables::all_processes).value_or("0")).value_or(0));
  plan.gpus = static_cast<int>(base::to_int(variable("SM_NUM_GPUS").value_or("0")).value_or(0));
  plan.cpus = static_cast<int>(base::to_int(variable("SM_NUM_CPUS").value_or("1")).value_or(1));
  plan.mpi_options = variable(launch_variables::mpi_options).value_or("");
  plan.interface = variable(launch_variables::interface)
                       .value_or(variable("SM_NETWORK_INTERFACE_NAME").value_or("eth0"));
  plan.python = variable(launch_variables::python).value_or("/usr/bin/python3");
  plan.program = variable("SM_USER_ENTRY_POINT").value_or("");
  plan.module = variable("SM_MODULE_NAME").value_or(plan.program);
  plan.arguments = text_list(variable, "SM_USER_ARGS");
  if (plan.program.empty()) refuse("SM_USER_ENTRY_POINT", "");
  return plan;
}

std::vector<std::string> user_command(const ScriptPlan& plan, Entry entry, bool through_mpi4py) {
  std::vector<std::string> words;
  if (entry == Entry::command) {
    words = {"/bin/sh", "-c", "exec ./\"$0\" \"$@\"", plan.program};
  } else {
    words = {plan.python};
    if (through_mpi4py) words.insert(words.end(), {"-m", "mpi4py"});
    if (entry == Entry::module) words.insert(words.end(), {"-m", plan.module});
    if (entry == Entry::python_file) words.push_back(plan.program);
  }
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  return words;
}

std::map<std::string, std::string> torch_environment(const ScriptPlan& plan, int local_rank) {
  const int hosts = std::max<int>(1, static_cast<int>(plan.hosts.size()));
  const int per_host = plan.processes_per_host;
  const std::string world = std::to_string(hosts * per_host);
  const std::string rank = std::to_string(plan.host_index() * per_host + local_rank);
  const std::string local = std::to_string(local_rank);
  return {{"MASTER_ADDR", plan.hosts.empty() ? "127.0.0.1" : plan.hosts.front()},
          {"MASTER_PORT", "7777"},
          {"WORLD_SIZE", world},
          {"LOCAL_WORLD_SIZE", std::to_string(per_host)},
          {"GROUP_WORLD_SIZE", std::to_string(hosts)},
          {"ROLE_WORLD_SIZE", world},
          {"RANK", rank},
          {"LOCAL_RANK", local},
          {"GROUP_RANK", std::to_string(plan.host_index())},
          {"ROLE_RANK", rank},
          {"ROLE_NAME", "default"},
          {"TORCHELASTIC_RUN_ID", "none"},  // as with a static rendezvous
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_MAX_RESTARTS", "0"},
          {"TORCHELASTIC_USE_AGENT_STORE", "False"},  // rank 0 keeps the store: there is no agent
          {"TORCHELASTIC_ERROR_FILE", "/tmp/torchelastic-error-" + local + ".json"},
          {"NCCL_ASYNC_ERROR_HANDLING", "1"},
          {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
          {"OMP_NUM_THREADS", std::to_string(std::max(1, plan.cpus / per_host))},
          {"NCCL_SOCKET_IFNAME", plan.interface},
          {"NCCL_PROTO", "simple"}};
}

std::vector<std::string> xla_command(const ScriptPlan& plan) {
  std::vector<std::string> words{
      plan.python, "-m", "torch_xla.distributed.xla_spawn", "--num_gpus", std::to_string(plan.gpus),
      plan.program};
  words.insert(words.end(), plan.arguments.begin(), plan.arguments.end());
  return words;
}

std::map<std::string, std::string> xla_environment(const ScriptPlan& plan) {
  constexpr char kWorkerPort[] = "43857", kMeshPort[] = "53957";
  std::vector<std::string> workers;
  for (std::size_t i = 0; i < plan.hosts.size(); ++i)
    workers.push_back("localservice:" + std::to_string(i) + ";" + plan.hosts[i] + ":" +
                      kWorkerPort);
  std::map<std::string, std::string> environment{
      {"XRT_HOST_ORDINAL", std::to_string(plan.host_index())},
      {"XRT_SHARD_WORLD_SIZE", std::to_string(plan.hosts.size())},
      {"XRT_WORKERS", base::join(workers, "|")},
      {"GPU_NUM_DEVICES", std::to_string(plan.gpus)}};
  if (plan.hosts.size() > 1)
    environment["XRT_MESH_SERVICE_ADDRESS"] = plan.hosts.front() + ":" + kMeshPort;
  return environment;
}

std::vector<std::string> mpirun_command(const ScriptPlan& plan,
                                        const std::vector<std::string>& rank_command,
                                        bool has_interface,
                                        const std::vector<std::string>& exported) {
  auto custom = parse_shell_words(plan.mpi_options);
  if (!custom) {
    throw base::Error(base::Code::invalid_argument,
                      "sagemaker_mpi_custom_mpi_options: " + custom.error().text());
  }
  const std::string level = take_nccl_level(*custom);
  const std::size_t ranks =
      plan.all_processes > 0
          ? static_cast<std::size_t>(plan.all_processes)
          : plan.hosts.size() * static_cast<std::size_t>(plan.processes_per_host);
  std::vector<std::string> words{"mpirun",
                                 "--host",
                                 host_list(plan),
                                 "-np",
                                 std::to_string(ranks),
                                 "--allow-run-as-root",
                                 "--display-map",
                                 "--tag-output"};
  if (has_interface) {
    add_mca(words, *custom, "btl_tcp_if_include", plan.interface);
    add_mca(words, *custom, "oob_tcp_if_include", plan.interface);
  }
  add_mca(words, *custom, "plm_rsh_no_tree_spawn", "1");
  words.insert(words.end(), {"-bind-to", "none", "-map-by", "slot"});
  add_mca(words, *custom, "pml", "ob1");
  add_mca(words, *custom, "btl", "^openib");
  add_mca(words, *custom, "orte_abort_on_non_zero_status", "1");
  add_mca(words, *custom, "btl_vader_single_copy_mechanism", "none");
  words.insert(words.end(), {"-x", "NCCL_MIN_NRINGS=4", "-x", "NCCL_DEBUG=" + level});
  if (has_interface) words.insert(words.end(), {"-x", "NCCL_SOCKET_IFNAME=" + plan.interface});
  for (const std::string& name : exported) words.insert(words.end(), {"-x", name});
  words.insert(words.end(), custom->begin(), custom->end());
  words.insert(words.end(), rank_command.begin(), rank_command.end());
  return words;
}

std::string name_rank(const ScriptPlan& plan, std::string_view line) {
  constexpr std::string_view kStart = "[1,";
  const std::size_t end = line.find("]<std");
  if (!line.starts_with(kStart) || end == std::string_view::npos) return std::string(line);
  const auto rank = base::to_uint(line.substr(kStart.size(), end - kStart.size()));
  if (!rank) return std::string(line);
  const std::size_t host = *rank / static_cast<std::size_t>(plan.processes_per_host);
  if (host >= plan.hosts.size()) return std::string(line);
  return "[1,mpirank:" + std::to_string(*rank) + "," + plan.hosts[host] +
         std::string(line.substr(end));
}

std::string rank_errors(std::string_view errors) {
  constexpr std::string_view kTag = "]<stderr>:";
  std::string out;
  for (const std::string& line : base::split(errors, '\n')) {
    const std::size_t tag = line.find(kTag);
    if (line.starts_with("[1,") && tag != std::string::npos) {
      out += line.substr(tag + kTag.size()) + "\n";
    }
  }
  return base::trim(out).empty() ? std::string(errors) : out;
}

std::string failure_text(int exit_code, std::string_view last_errors,
                         const std::vector<std::string>& command) {
  std::string errors(base::trim(last_errors));
  if (errors.size() > kMaxErrorText) errors.erase(0, errors.size() - kMaxErrorText);
  std::string text = "ExecuteUserScriptError:\nExitCode " + std::to_string(exit_code);
  if (exit_code == 137) text += " (killed; the instance may have run out of memory)";
  return text + "\nErrorMessage \"" + base::to_valid_utf8(errors) + "\"\nCommand \"" +
         quote_shell_words(command) + "\"";
}

}  // namespace meridian::run
