// SPDX-License-Identifier: Apache-2.0
#include "run/script/script_runner.h"

#include <net/if.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "run/script/child_group.h"
#include "run/script/gang_client.h"
#include "run/script/requirements.h"
#include "run/script/script_plan.h"
#include "run/script/tensorflow_cluster.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr char kCode[] = "/opt/ml/code";
constexpr char kOutput[] = "/opt/ml/output";
constexpr base::Duration kRendezvous{900'000};

std::optional<std::string> variable(const std::string& name) {
  const char* value = getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The script's own words win; a full or missing directory must not hide the exit code.
void write_failure(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::error_code ec;
  if (fs::exists(fs::path(kOutput) / "failure", ec)) return;
  try {
    base::make_directories(kOutput);
    base::write_file(fs::path(kOutput) / "failure", text);
  } catch (const base::Error& error) {
    std::fprintf(stderr, "meridian: %s\n", error.what());
  }
}

std::string entry_missing(const ScriptPlan& plan) {
  std::vector<std::string> there;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(kCode, ec)) {
    there.push_back(entry.path().filename().string());
  }
  std::ranges::sort(there);
  if (there.size() > 20) there.resize(20);
  return "the entry point " + std::string(kCode) + "/" + plan.program +
         " does not exist; the code holds: " +
         (there.empty() ? "nothing" : base::join(there, ", "));
}

Entry find_entry(const ScriptPlan& plan) {
  std::error_code ec;
  const fs::path program = fs::path(kCode) / plan.program;
  if (fs::exists(fs::path(kCode) / "setup.py", ec)) return Entry::module;
  if (!fs::exists(program, ec)) throw base::Error(base::Code::not_found, entry_missing(plan));
  if (program.extension() == ".py") return Entry::python_file;
  chmod(program.c_str(), 0755);
  return Entry::command;
}

int finish(const ScriptPlan& plan, ChildGroup& children, const std::vector<std::string>& command) {
  ChildGroup::Outcome outcome = children.wait();
  if (plan.kind == LaunchKind::mpi) outcome.last_errors = rank_errors(outcome.last_errors);
  if (outcome.code == 0) {
    std::error_code ec;
    if (fs::is_directory(kOutput, ec)) base::write_file(fs::path(kOutput) / "success", "");
  } else {
    write_failure(failure_text(outcome.code, outcome.last_errors, command));
  }
  return outcome.code;
}

int run_plain(const ScriptPlan& plan, Entry entry) {
  const auto command = user_command(plan, entry);
  ChildGroup children;
  children.start(command, {}, kCode);
  return finish(plan, children, command);
}

int run_torch(const ScriptPlan& plan, Entry entry) {
  if (entry == Entry::command) {
    throw base::Error(base::Code::invalid_argument,
                      "torch.distributed runs Python scripts only, not " + plan.program);
  }
  const auto command = user_command(plan, entry);
  ChildGroup children;
  children.keep_lines_whole();
  for (int rank = 0; rank < plan.processes_per_host; ++rank) {
    auto environment = torch_environment(plan, rank);
    if (variable("OMP_NUM_THREADS")) environment.erase("OMP_NUM_THREADS");  // the user's own wins
    children.start(command, environment, kCode);
  }
  return finish(plan, children, command);
}

bool imports(const ScriptPlan& plan, const std::string& module) {
  ChildGroup probe;
  probe.start({"/bin/sh", "-c", "exec \"$0\" -c \"import $1\" 2>/dev/null", plan.python, module},
              {}, "/");
  return probe.wait().code == 0;
}

int run_xla(const ScriptPlan& plan, Entry entry) {
  if (entry != Entry::python_file)
    throw base::Error(base::Code::invalid_argument,
                      "PyTorch/XLA runs Python scripts only, not " + plan.program);
  for (const char* module : {"torch_xla", "torch_xla.distributed.xla_spawn"}) {
    if (imports(plan, module)) continue;
    throw base::Error(
        base::Code::failed_precondition,
        "sagemaker_pytorch_xla_multi_worker_enabled: " + plan.python + " can't import " + module);
  }
  const auto command = xla_command(plan);
  ChildGroup children;
  children.start(command, xla_environment(plan), kCode);
  return finish(plan, children, command);
}

// The other hosts need this host's parameters until the master is through.
int run_beside_parameter_server(const ScriptPlan& plan, Entry entry) {
  const auto command = user_command(plan, entry);
  ChildGroup children;
  children.keep_lines_whole();
  children.start_helper(parameter_server_command(plan.python), {{"CUDA_VISIBLE_DEVICES", "-1"}},
                        kCode);
  children.start(command, {}, kCode);
  if (!plan.is_master())
    children.start({"/opt/meridian/bin/meridian-init", "await", plan.hosts.front()}, {}, "/");
  return finish(plan, children, command);
}

// Ranks are started on this host by the master's mpirun through our supervisor: only stay until
// the master has ended. SIGTERM reaches the ranks through mpirun, so it must not end us first.
int run_mpi_worker(const ScriptPlan& plan) {
  signal(SIGTERM, SIG_IGN);
  if (wait_for_end_of(plan.hosts.front())) return 0;
  throw base::Error(base::Code::unavailable, "host " + plan.hosts.front() + " was lost");
}

int run_mpi_master(const ScriptPlan& plan, Entry entry) {
  bool mpi4py = entry != Entry::command && imports(plan, "mpi4py");
  if (entry != Entry::command && !mpi4py) {
    std::fprintf(stderr,
                 "meridian: %s has no mpi4py: an uncaught exception of one rank may leave "
                 "the others waiting\n",
                 plan.python.c_str());
  }
  std::vector<std::string> exported{"PATH"};
  for (const char* name : {"LD_LIBRARY_PATH", "PYTHONPATH"}) {
    if (variable(name)) exported.emplace_back(name);
  }
  const auto rank_command = user_command(plan, entry, mpi4py);
  // mpirun gives each rank a terminal and tags what it reads: whole lines stay whole only when each
  // is one write, which unbuffered Python does not do.
  std::vector<std::string> tagged{"/usr/bin/env", "-u", "PYTHONUNBUFFERED"};
  tagged.insert(tagged.end(), rank_command.begin(), rank_command.end());
  const auto command =
      mpirun_command(plan, tagged, if_nametoindex(plan.interface.c_str()) != 0, exported);
  std::printf("meridian: %s\n", base::join(command, " ").c_str());
  std::fflush(stdout);
  ChildGroup children;
  children.rewrite_lines([&](std::string_view line) { return name_rank(plan, line); });
  children.start(command, {}, kCode);
  return finish(plan, children, rank_command);
}

int run_planned(ScriptPlan plan) {
  setenv("PYTHONUNBUFFERED", "1", 0);  // lines reach the log as they are printed
  plan.python = install_packages(plan.python, kCode);
  const Entry entry = find_entry(plan);
  if (plan.hosts.size() > 1) {
    announce_ready(plan.current_host);
    wait_for_hosts(plan.hosts, rendezvous_patience(kRendezvous));
  }
  switch (plan.kind) {
    case LaunchKind::plain: return run_plain(plan, entry);
    case LaunchKind::torch: return run_torch(plan, entry);
    case LaunchKind::xla: return run_xla(plan, entry);
    case LaunchKind::parameter_server: return run_beside_parameter_server(plan, entry);
    case LaunchKind::mpi: break;
  }
  return plan.is_master() ? run_mpi_master(plan, entry) : run_mpi_worker(plan);
}

}  // namespace

int run_script() {
  try {
    return run_planned(read_script_plan(variable));
  } catch (const base::Error& error) {
    write_failure(error.message());
    return 1;
  } catch (const std::exception& error) {  // the standard library's, of file systems
    write_failure(error.what());
    return 1;
  }
}

}  // namespace meridian::run
