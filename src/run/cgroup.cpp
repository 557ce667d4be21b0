// SPDX-License-Identifier: Apache-2.0
#include "run/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/strings.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

// False with errno set. Control files want one plain write.
bool put(const fs::path& file, const std::string& text) {
  const base::UniqueFd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string get(const fs::path& file) {
  try {
    return base::read_file_if_exists(file, 1u << 16);
  } catch (const base::Error&) {
    return "";  // a controller without this file
  }
}

// "key value" lines.
std::uint64_t get_member(const fs::path& file, std::string_view key) {
  for (const std::string& line : base::split(get(file), '\n')) {
    if (line.starts_with(std::string(key) + " ")) {
      return base::to_uint(line.substr(key.size() + 1)).value_or(0);
    }
  }
  return 0;
}

// Where this process is: controller → directory below its hierarchy's mount; "" is version 2.
std::map<std::string, fs::path> own_groups() {
  std::map<std::string, std::string> paths;
  for (const std::string& line : base::split(get("/proc/self/cgroup"), '\n')) {
    const auto fields = base::split(line, ':');
    if (fields.size() < 3) continue;
    for (const std::string& controller : base::split(fields[1], ',')) paths[controller] = fields[2];
  }
  std::map<std::string, fs::path> groups;
  for (const std::string& line : base::split(get("/proc/self/mounts"), '\n')) {
    const auto fields = base::split(line, ' ');
    if (fields.size() < 4) continue;
    const auto place = [&](const std::string& controller) {
      const auto it = paths.find(controller);
      if (it == paths.end() || groups.contains(controller)) return;
      groups[controller] = (fs::path(fields[1]) / fs::path(it->second).relative_path());
    };
    if (fields[2] == "cgroup2") place("");
    if (fields[2] != "cgroup") continue;
    for (const std::string& option : base::split(fields[3], ',')) place(option);
  }
  return groups;
}

// One path component, whatever the id holds.
std::string group_name(const std::string& id) { return "meridian-" + base::percent_encode(id); }

std::optional<fs::path> make_group(const fs::path& parent, const std::string& name) {
  const fs::path group = parent / name;
  rmdir(group.c_str());  // one left behind would bring its counts along
  if (mkdir(group.c_str(), 0755) != 0) return std::nullopt;
  return group;
}

void note_missing(std::vector<std::string>& notes, const char* what, const std::string& why) {
  notes.push_back(std::string("no ") + what + " limit: " + why);
}

std::string cpu_quota(double cpus) {
  return std::to_string(static_cast<std::int64_t>(cpus * 100'000));
}

}  // namespace

Cgroup::Cgroup(const std::string& instance_id, const Limits& limits,
               std::vector<std::string>& notes) {
  const auto own = own_groups();
  const std::string name = group_name(instance_id);
  // Version 2: the parent must hand its controllers down first.
  if (const auto it = own.find(""); it != own.end()) {
    const std::string available = get(it->second / "cgroup.controllers");
    for (const char* controller : {"memory", "cpu", "pids"}) {
      if (available.find(controller) == std::string::npos) continue;
      if (!put(it->second / "cgroup.subtree_control", std::string("+") + controller)) continue;
      if (const auto group = make_group(it->second, name)) {
        directories_[controller] = *group;
        if (std::string_view(controller) == "cpu") directories_["cpuacct"] = *group;
      }
    }
  }
  for (const char* controller : {"memory", "cpu", "cpuacct", "pids"}) {
    const auto it = own.find(controller);
    if (it == own.end() || directories_.contains(controller)) continue;
    if (const auto group = make_group(it->second, name)) directories_[controller] = *group;
  }
  const auto set = [&](const char* controller, const char* what, const std::string& v2_file,
                       const std::string& v2, const std::string& v1_file, const std::string& v1) {
    const auto it = directories_.find(controller);
    if (it == directories_.end()) {
      return note_missing(notes, what, "no control group of this kind may be made here");
    }
    const fs::path group = it->second;
    if (put(group / v2_file, v2) || put(group / v1_file, v1)) return;
    note_missing(notes, what, strerror(errno));
  };
  if (limits.memory_bytes > 0) {
    const std::string bytes = std::to_string(limits.memory_bytes);
    set("memory", "memory", "memory.max", bytes, "memory.limit_in_bytes", bytes);
  }
  if (limits.cpus > 0) {
    const std::string quota = cpu_quota(limits.cpus);
    set("cpu", "CPU", "cpu.max", quota + " 100000", "cpu.cfs_quota_us", quota);
  }
  if (limits.processes > 0) {
    const std::string count = std::to_string(limits.processes);
    set("pids", "process", "pids.max", count, "pids.max", count);
  }
}

void Cgroup::add(pid_t pid) const {
  for (const auto& [controller, directory] : directories_) {
    put(fs::path(directory) / "cgroup.procs", std::to_string(pid));
  }
}

bool Cgroup::killed_for_memory() const {
  const auto it = directories_.find("memory");
  if (it == directories_.end()) return false;
  const fs::path group = it->second;
  return get_member(group / "memory.events", "oom_kill") > 0 ||
         get_member(group / "memory.oom_control", "oom_kill") > 0;
}

void Cgroup::remove() const { remove_cgroups(directories_); }

void remove_cgroups(const std::map<std::string, std::string>& directories) {
  for (const auto& [controller, directory] : directories) rmdir(directory.c_str());
}

Usage read_cgroup_usage(const std::map<std::string, std::string>& directories) {
  Usage usage;
  if (const auto it = directories.find("cpuacct"); it != directories.end()) {
    const fs::path group = it->second;
    const auto nanoseconds = base::to_uint(base::trim(get(group / "cpuacct.usage")));
    usage.cpu_seconds =
        nanoseconds ? static_cast<double>(*nanoseconds) / 1e9
                    : static_cast<double>(get_member(group / "cpu.stat", "usage_usec")) / 1e6;
  }
  if (const auto it = directories.find("memory"); it != directories.end()) {
    const fs::path group = it->second;
    const auto first = [&](const char* v2, const char* v1) {
      auto value = base::to_uint(base::trim(get(group / v2)));
      if (!value) value = base::to_uint(base::trim(get(group / v1)));
      return value.value_or(0);
    };
    usage.memory_bytes = first("memory.current", "memory.usage_in_bytes");
    const std::uint64_t limit = first("memory.max", "memory.limit_in_bytes");
    if (limit < (std::uint64_t{1} << 60)) usage.memory_limit_bytes = limit;  // larger: none
  }
  return usage;
}

}  // namespace meridian::run
