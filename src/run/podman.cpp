// SPDX-License-Identifier: Apache-2.0
#include "run/podman.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/json.h"
#include "base/strings.h"
#include "run/capture.h"

namespace meridian::run {
namespace {

// crun refuses machines with cgroups of both versions; runc does not.
const std::vector<std::string> kPodman = {"podman", "--runtime", "runc"};

std::vector<std::string> podman(std::vector<std::string> words) {
  words.insert(words.begin(), kPodman.begin(), kPodman.end());
  return words;
}

// podman's own defaults may lie above what this process may set.
std::string limit(const char* name, int resource) {
  constexpr rlim_t kWanted = 1u << 20;
  rlimit have{};
  getrlimit(static_cast<__rlimit_resource>(resource), &have);
  const std::string value = std::to_string(std::min(have.rlim_max, kWanted));
  return std::string(name) + "=" + value + ":" + value;
}

std::vector<std::string> text_list(const base::Json* value) {
  std::vector<std::string> out;
  if (value == nullptr || !value->is_array()) return out;
  for (const auto& item : value->as_array()) {
    if (item.is_string()) out.emplace_back(base::view(item.as_string()));
  }
  return out;
}

void add_volume(std::vector<std::string>& words, const std::string& host, const std::string& inside,
                const char* mode) {
  words.push_back("-v");
  words.push_back(host + ":" + inside + ":" + mode);
}

void add_limits(std::vector<std::string>& words, const Limits& limits) {
  if (limits.memory_bytes > 0) {
    words.insert(words.end(), {"--memory", std::to_string(limits.memory_bytes) + "b"});
  }
  if (limits.cpus > 0) {
    words.insert(words.end(), {"--cpu-period", "100000", "--cpu-quota",
                               std::to_string(static_cast<long>(limits.cpus * 100'000))});
  }
  if (limits.processes > 0) {
    words.insert(words.end(), {"--pids-limit", std::to_string(limits.processes)});
  }
}

}  // namespace

std::vector<std::string> local_names(const std::string& reference) {
  std::vector<std::string> names{reference};
  const std::size_t slash = reference.find('/');
  const std::string host = reference.substr(0, slash);
  if (slash != std::string::npos && host.find(".dkr.ecr.") != std::string::npos) {
    names.push_back("localhost/" + reference.substr(slash + 1));
    names.push_back(reference.substr(slash + 1));
  }
  return names;
}

base::Result<LocalImage> parse_image_inspection(std::string_view json) {
  auto parsed = base::parse_json(json);
  if (!parsed) return parsed.error();
  if (!parsed->is_array() || parsed->as_array().empty()) {
    return base::ParseError{"podman described no image"};
  }
  const base::Json& image = parsed->as_array().front();
  LocalImage out;
  out.id = base::string_or(image, "Id");
  const base::Json* config = base::find_path(image, "Config");
  if (config != nullptr) {
    out.entrypoint = text_list(base::find(*config, "Entrypoint"));
    out.command = text_list(base::find(*config, "Cmd"));
    out.user = base::string_or(*config, "User");
  }
  return out;
}

std::optional<LocalImage> find_local_image(const std::string& reference) {
  if (reference.empty() || reference.front() == '-') return std::nullopt;
  for (const std::string& name : local_names(reference)) {
    const Captured answer = capture(podman({"image", "inspect", name}));
    if (answer.exit_code == 127) return std::nullopt;
    if (answer.exit_code != 0) continue;
    auto image = parse_image_inspection(answer.output);
    if (!image) continue;
    image->reference = name;
    return std::move(*image);
  }
  return std::nullopt;
}

std::filesystem::path files_directory(const InstanceSpec& spec, std::size_t mount) {
  return spec.directory / "scratch" / ("files-" + std::to_string(mount));
}

std::string container_name(const InstanceSpec& spec) {
  std::string name = "meridian-" + spec.id;
  std::ranges::replace_if(
      name, [](char c) { return !isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.'; },
      '_');
  return name;
}

std::vector<std::string> podman_command(const InstanceSpec& spec, const std::string& init_program) {
  std::vector<std::string> words =
      podman({"run", "--rm", "--replace", "--name", container_name(spec), "--pull", "never",
              "--network", "host", "--security-opt", "no-new-privileges", "--cap-drop", "all",
              "--ulimit", limit("nofile", RLIMIT_NOFILE), "--ulimit", limit("nproc", RLIMIT_NPROC),
              "--log-driver", "none"});
  if (!spec.hostname.empty()) {
    words.insert(words.end(), {"--uts", "private", "--hostname", spec.hostname});
  }
  for (const Host& host : spec.hosts) {
    words.insert(words.end(), {"--add-host", host.name + ":" + host.address});
  }
  add_limits(words, spec.limits);
  constexpr const char* kModes[] = {"ro", "rw", "O", "ro"};
  for (std::size_t i = 0; i < spec.mounts.size(); ++i) {
    const Mount& mount = spec.mounts[i];
    const bool on_demand = mount.mode == Mount::Mode::on_demand;
    add_volume(words, (on_demand ? files_directory(spec, i) : mount.host).string(),
               mount.inside.string(), kModes[static_cast<int>(mount.mode)]);
  }
  add_volume(words, init_program, "/opt/meridian/bin/meridian-init", "ro");
  if (!spec.gang_directory.empty()) {
    add_volume(words, (spec.gang_directory / "members").string(), "/opt/meridian/gang", "ro");
  }
  for (const int gpu : spec.gpus) {
    words.insert(words.end(), {"--device", "/dev/nvidia" + std::to_string(gpu)});
  }
  for (const auto& [name, value] : spec.environment) {
    words.insert(words.end(), {"--env", name + "=" + value});
  }
  if (!spec.entrypoint.empty()) {
    words.insert(words.end(),
                 {"--entrypoint",
                  base::to_text(base::JsonArray(spec.entrypoint.begin(), spec.entrypoint.end()))});
  }
  words.push_back(spec.image);
  words.insert(words.end(), spec.argv.begin(), spec.argv.end());
  return words;
}

std::vector<std::string> podman_exec_command(const InstanceSpec& spec,
                                             const std::vector<std::string>& argv) {
  std::vector<std::string> words = podman({"exec", "--interactive", container_name(spec)});
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

bool wait_for_container(const InstanceSpec& spec) {
  for (int i = 0; i < 300; ++i) {
    const Captured state = capture(
        podman({"container", "inspect", "--format", "{{.State.Running}}", container_name(spec)}));
    if (base::trim(state.output) == "true") return true;
    std::this_thread::sleep_for(base::Duration(200));
  }
  return false;
}

void remove_container(const InstanceSpec& spec) {
  capture(podman({"rm", "--force", "--ignore", "--time", "0", container_name(spec)}));
}

}  // namespace meridian::run
