// What is wrong with an installation, and the command that mends it: facts in, findings out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::cli {

// What was seen on this machine. Empty strings and nothing: not there.
struct Facts {
  std::string data;
  bool data_exists = false, data_writable = false;
  std::optional<std::uint64_t> free_bytes;
  std::string daemon_error;                         // "" = a daemon answers
  bool environment_set = false;                     // AWS_ENDPOINT_URL names this installation
  bool wrapper_first = false;                       // the first aws on PATH is DATA/bin/aws
  std::string aws_version;                          // "2.9.19"
  std::string python, boto3_version, boto3_python;  // of the python3 on PATH
  bool init_found = false;                          // meridian-init beside this program
  std::string namespace_error;                      // "" = namespaces work
  std::string files_error;                          // "" = FastFile channels are read on demand
  enum class Cgroups { none, v1, v2, hybrid } cgroups = Cgroups::none;
  bool cgroups_writable = false;
  std::string system_python = "/usr/bin/python3", torch_version;
  bool mpirun = false, mpi4py = false, podman = false, outward_network = false;
};

enum class Level { good, note, bad };

struct Finding {
  Level level = Level::good;
  std::string what;
  std::string mend;  // a command or a short advice; empty when all is well
};

std::vector<Finding> judge(const Facts& facts);

// Whether this version of the aws command reads AWS_ENDPOINT_URL (v2 from 2.13, v1 from 1.29).
bool aws_reads_endpoint(std::string_view version);
// The same for boto3 (from 1.28).
bool boto3_reads_endpoint(std::string_view version);

}  // namespace meridian::cli
