// Instances that are OCI images: run by podman and runc, with the container contract of training
// images (ENTRYPOINT kept, CMD replaced by the instance's argv).
//
// As root the container shares the gang's network namespace and lives in the instance's PID
// namespace, so that it ends with its supervisor. As an ordinary user podman brings its own user
// namespace, which the gang's network cannot be joined from: the host's network is used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/instance.h"

namespace meridian::run {

struct LocalImage {
  std::string reference;  // as podman knows it
  std::string id;
  std::vector<std::string> entrypoint, command;
  std::string user;
};

// The references that may name an image locally, most exact first:
// "1.dkr.ecr.us-west-2.amazonaws.com/team/net:2" is also "localhost/team/net:2" and "team/net:2".
std::vector<std::string> local_names(const std::string& reference);

// Asks podman; nothing when it is not installed or has no such image. Never pulls.
std::optional<LocalImage> find_local_image(const std::string& reference);
base::Result<LocalImage> parse_image_inspection(std::string_view json);

// `podman run …` for an instance.
std::vector<std::string> podman_command(const InstanceSpec& spec, const std::string& init_program);
// Where an image's channel is mounted for podman to pass it on.
std::filesystem::path files_directory(const InstanceSpec& spec, std::size_t mount);
std::string container_name(const InstanceSpec& spec);
// What is left in podman's storage of a container that was killed.
// Runs a command in the instance's container, with this process's standard streams.
std::vector<std::string> podman_exec_command(const InstanceSpec& spec,
                                             const std::vector<std::string>& argv);
// Until the container runs; false when it does not within a minute.
bool wait_for_container(const InstanceSpec& spec);
void remove_container(const InstanceSpec& spec);

}  // namespace meridian::run
