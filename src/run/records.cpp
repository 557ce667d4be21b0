// SPDX-License-Identifier: Apache-2.0
#include "run/records.h"

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::run {
namespace fs = std::filesystem;
using base::Json;
using base::JsonObject;
namespace {

constexpr std::string_view kKinds[] = {"exited", "signalled", "lost", "not_started"};

void write_record(const fs::path& path, const JsonObject& body) {
  base::write_file(path, base::to_text(body) + "\n", base::Durability::synced, 0600);
}

std::optional<Json> find_record(const fs::path& path) {
  const std::string text = base::read_file_if_exists(path, 1u << 20);
  if (text.empty()) return std::nullopt;
  return base::parse_stored_json(text, path.string());
}

}  // namespace

void write_supervisor_record(const fs::path& directory, const SupervisorRecord& record) {
  write_record(directory / "run.json", {{"id", record.id},
                                        {"pid", record.pid},
                                        {"start_time", record.start_time},
                                        {"boot_id", record.boot_id},
                                        {"protocol", record.protocol}});
}

std::optional<SupervisorRecord> find_supervisor_record(const fs::path& directory) {
  const auto body = find_record(directory / "run.json");
  if (!body) return std::nullopt;
  SupervisorRecord record;
  record.id = base::string_or(*body, "id");
  record.pid = static_cast<pid_t>(base::int_or(*body, "pid", 0));
  record.start_time = static_cast<std::uint64_t>(base::int_or(*body, "start_time", 0));
  record.boot_id = base::string_or(*body, "boot_id");
  record.protocol = static_cast<int>(base::int_or(*body, "protocol", 0));
  return record;
}

void write_running_record(const fs::path& directory, const RunningRecord& record) {
  base::JsonArray notes(record.notes.begin(), record.notes.end());
  JsonObject cgroups;
  for (const auto& [controller, path] : record.cgroups) cgroups[controller] = path;
  write_record(directory / "status.json", {{"started", record.started.ms},
                                           {"init_pid", record.init_pid},
                                           {"notes", std::move(notes)},
                                           {"cgroups", std::move(cgroups)}});
}

std::optional<RunningRecord> find_running_record(const fs::path& directory) {
  const auto body = find_record(directory / "status.json");
  if (!body) return std::nullopt;
  RunningRecord record;
  record.started = {base::int_or(*body, "started", 0)};
  record.init_pid = static_cast<pid_t>(base::int_or(*body, "init_pid", 0));
  if (const Json* notes = base::find(*body, "notes"); notes != nullptr && notes->is_array()) {
    for (const Json& note : notes->as_array()) {
      if (note.is_string()) record.notes.emplace_back(base::view(note.as_string()));
    }
  }
  if (const Json* groups = base::find(*body, "cgroups"); groups != nullptr && groups->is_object()) {
    for (const auto& [controller, path] : groups->as_object()) {
      if (path.is_string()) record.cgroups[controller] = base::view(path.as_string());
    }
  }
  return record;
}

void write_exit_status(const fs::path& directory, const ExitStatus& status) {
  write_record(directory / "exit.json", {{"kind", kKinds[static_cast<int>(status.kind)]},
                                         {"code", status.code},
                                         {"out_of_memory", status.out_of_memory},
                                         {"stopped", status.stopped},
                                         {"message", status.message},
                                         {"at", status.at.ms},
                                         {"cpu_seconds", status.usage.cpu_seconds},
                                         {"memory_bytes", status.usage.memory_bytes}});
}

std::optional<ExitStatus> find_exit_status(const fs::path& directory) {
  const auto body = find_record(directory / "exit.json");
  if (!body) return std::nullopt;
  ExitStatus status;
  const std::string kind = base::string_or(*body, "kind");
  for (int i = 0; i < 4; ++i) {
    if (kKinds[i] == kind) status.kind = static_cast<ExitStatus::Kind>(i);
  }
  status.code = static_cast<int>(base::int_or(*body, "code", 0));
  status.out_of_memory = base::bool_or(*body, "out_of_memory", false);
  status.stopped = base::bool_or(*body, "stopped", false);
  status.message = base::string_or(*body, "message");
  status.at = {base::int_or(*body, "at", 0)};
  status.usage.cpu_seconds = base::double_or(*body, "cpu_seconds", 0);
  status.usage.memory_bytes = static_cast<std::uint64_t>(base::int_or(*body, "memory_bytes", 0));
  return status;
}

std::optional<std::uint64_t> find_start_time(pid_t pid) {
  // The program's name stands in parentheses and may hold anything: count from the last one.
  const std::string text =
      base::read_file_if_exists("/proc/" + std::to_string(pid) + "/stat", 4096);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 > text.size()) return std::nullopt;
  const auto fields = base::split(std::string_view(text).substr(name_end + 2), ' ');
  constexpr std::size_t kStartTime = 22 - 3;  // proc(5) counts from 1; the state is field 3
  if (fields.size() <= kStartTime || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
  return base::to_uint(fields[kStartTime]);
}

std::string boot_id() {
  return std::string(base::trim(base::read_file_if_exists("/proc/sys/kernel/random/boot_id", 128)));
}

}  // namespace meridian::run
