// SPDX-License-Identifier: Apache-2.0
#include "run/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "run/cgroup.h"

namespace meridian::run {
namespace {

std::string read_proc(pid_t pid, const char* name) {
  try {
    return base::read_file_if_exists("/proc/" + std::to_string(pid) + "/" + name, 1u << 16);
  } catch (const base::Error&) {
    return "";  // it ended meanwhile
  }
}

// Adds one process, with the time of its children that were waited for.
void add_process(pid_t pid, Usage& usage) {
  const std::string stat = read_proc(pid, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  const auto fields = base::split(std::string_view(stat).substr(name_end + 2), ' ');
  const auto field = [&](std::size_t number) {  // as proc(5) counts
    return number - 3 < fields.size() ? base::to_uint(fields[number - 3]).value_or(0) : 0;
  };
  const double tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.cpu_seconds += static_cast<double>(field(14) + field(15) + field(16) + field(17)) / tick;
  usage.memory_bytes += field(24) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// PID 1 of the instance is the ancestor of everything in it.
void add_tree(pid_t pid, Usage& usage, int depth) {
  if (depth > 64) return;
  add_process(pid, usage);
  std::error_code ended;
  const auto tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, ended)) {
    const std::string name = "task/" + task.path().filename().string() + "/children";
    for (const std::string& child : base::split(read_proc(pid, name.c_str()), ' ')) {
      if (const auto number = base::to_int(child)) {
        add_tree(static_cast<pid_t>(*number), usage, depth + 1);
      }
    }
  }
}

}  // namespace

Usage read_usage(const RunningRecord& record) {
  Usage usage = read_cgroup_usage(record.cgroups);
  if (record.init_pid == 0 || (usage.cpu_seconds > 0 && usage.memory_bytes > 0)) return usage;
  Usage tree;
  add_tree(record.init_pid, tree, 0);
  if (usage.cpu_seconds == 0) usage.cpu_seconds = tree.cpu_seconds;
  if (usage.memory_bytes == 0) usage.memory_bytes = tree.memory_bytes;
  return usage;
}

Usage usage_of_all_children() {
  rusage all{};
  if (getrusage(RUSAGE_CHILDREN, &all) != 0) return {};
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  Usage usage;
  usage.cpu_seconds = seconds(all.ru_utime) + seconds(all.ru_stime);
  usage.memory_bytes = static_cast<std::uint64_t>(all.ru_maxrss) * 1024;  // of the largest process
  return usage;
}

}  // namespace meridian::run
