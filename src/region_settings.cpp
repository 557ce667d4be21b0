// SPDX-License-Identifier: Apache-2.0
#include "region_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace meridian {
namespace fs = std::filesystem;
namespace {

// Where a person keeps secrets. Programs run as that person unless the daemon is root, and must not
// read them.
std::vector<fs::path> private_directories() {
  std::vector<fs::path> found;
  const char* home = std::getenv("HOME");
  if (geteuid() == 0 || home == nullptr || *home != '/') return found;
  for (const char* name : {".ssh", ".aws", ".gnupg", ".docker", ".kube"}) {
    std::error_code ignored;
    if (fs::is_directory(fs::path(home) / name, ignored)) found.push_back(fs::path(home) / name);
  }
  return found;
}

}  // namespace

region::training::Settings training_settings(const DaemonSettings& daemon, const Config& config,
                                             const std::string& region, std::uint16_t port,
                                             const fs::path& socket) {
  region::training::Settings s;
  s.account = config.account;
  s.region = region;
  s.directory = daemon.data / "regions" / region;
  s.hidden = {daemon.data};
  for (const fs::path& directory : private_directories()) s.hidden.push_back(directory);
  s.endpoint_url = fmt::format("http://127.0.0.1:{}", port);
  s.endpoint_socket = socket.string();
  s.endpoint_port = port;
  s.network = config.host_network ? run::Network::host : run::Network::gang;
  s.tools_directory = daemon.data / "bin";
  s.algorithms_directory = daemon.programs;
  for (const ImageMapping& m : config.images) s.image_rules.push_back({m.match, m.run});
  s.file_systems = config.file_systems;
  s.spot = config.spot;
  s.refuse_unenforced = daemon.strict;
  s.step_kind = "training-" + region;
  s.probe = region::training::machine_probe();
  return s;
}

region::batch::Settings batch_settings(const region::training::Settings& training,
                                       const std::string& step_kind) {
  return {.account = training.account,
          .region = training.region,
          .directory = training.directory,
          .hidden = training.hidden,
          .endpoint_url = training.endpoint_url,
          .endpoint_socket = training.endpoint_socket,
          .endpoint_port = training.endpoint_port,
          .network = training.network,
          .tools_directory = training.tools_directory,
          .image_rules = training.image_rules,
          .probe = training.probe,
          .step_kind = step_kind};
}

}  // namespace meridian
