// What an instance is: everything meridian-init needs to set one up, and what it reports.
//
// Written by the daemon as `<directory>/spec.json`, read by meridian-init: versioned, additive
// only, because a daemon adopts what its previous release started (design D5).
//
//   <directory>/     0700
//     spec.json      this
//     lock           held (flock) while the supervisor lives
//     run.json       meridian-init's pid, start time and protocol; synced before the program starts
//     status.json    when the program started, what the kernel refused
//     exit.json      how it ended; written once, synced, last
//     init.sock      handshake and commands: hello, stop, kill, exec, connect (run/message.h)
//     init.log       meridian-init's own words, for people
//     scratch/       /tmp, overlay uppers; removed at the end
//     …              whatever `mounts` name
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::run {

struct Mount {
  std::filesystem::path host;    // directory or file on the host
  std::filesystem::path inside;  // absolute path in the instance
  // overlay: `host` is the lower layer, writes go to a scratch upper and vanish with the instance.
  // on_demand: `host` is an index (run/file_tree.h), whose files are shown read-only and read from
  // where they lie when the program reads them.
  enum class Mode { read_only, read_write, overlay, on_demand } mode = Mode::read_write;
};

struct Limits {
  double cpus = 0;                 // 0 = unlimited
  std::uint64_t memory_bytes = 0;  // 0 = unlimited
  std::uint64_t processes = 0;     // 0 = unlimited
};

enum class Network {
  gang,      // the gang's network namespace with eth0; outward by pasta/slirp4netns where installed
  isolated,  // the gang's namespace, nothing outward, no forwarder
  host,      // the machine's network: explicit, printed fallback
};

struct Host {
  std::string name;     // algo-1
  std::string address;  // 127.0.1.1 …
};

// What a program may act as: temporary keys.
struct JobCredentials {
  std::string access_key_id, secret, session_token, role_arn;
  base::Timestamp expires{};
};

struct InstanceSpec {
  int version = 1;
  std::string id;    // unique on this machine: "us-west-2/my-job/1/algo-1"
  std::string gang;  // shared network namespace: "us-west-2/my-job/1"
  std::filesystem::path directory;
  std::string hostname;                            // algo-1
  std::vector<Host> hosts;                         // of the whole gang, algo-1 first
  std::vector<std::string> argv;                   // program and arguments inside
  std::map<std::string, std::string> environment;  // the whole of it
  std::string working_directory = "/";
  std::vector<Mount> mounts;  // applied in order, after the private root view
  std::vector<std::filesystem::path>
      hidden;  // host directories that must not be seen inside (DATA)
  Limits limits;
  std::vector<int> gpus;  // device indexes
  Network network = Network::gang;
  std::string endpoint_socket;      // daemon's unix socket that a forwarder inside serves on …
  std::uint16_t endpoint_port = 0;  // … 127.0.0.1:endpoint_port; 0 = no forwarder
  std::optional<JobCredentials> credentials;  // served inside: run/inside/credential_server.h
  std::string image;                          // OCI reference → podman; empty = host runtime
  std::vector<std::string> entrypoint;        // with an image: instead of its own; argv follows it
  std::filesystem::path log_file;             // run/log_file.h records; appended
  base::Duration grace{120'000};              // SIGTERM → SIGKILL

  // Filled in by the local engine.
  std::filesystem::path gang_directory;            // namespace holder's and members' sockets
  std::optional<std::uint32_t> user_id, group_id;  // run as these; only root can (else: as is)
};

base::Json to_json(const InstanceSpec& spec);
base::Result<InstanceSpec> parse_instance_spec(std::string_view json);

struct Usage {
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0, memory_limit_bytes = 0, disk_bytes = 0;
};

struct ExitStatus {
  enum class Kind { exited, signalled, lost, not_started } kind = Kind::exited;
  int code = 0;                // exit code or signal number
  bool out_of_memory = false;  // the kernel killed something inside for memory
  bool stopped = false;        // ended after a stop request
  std::string message;         // why not started / lost
  base::Timestamp at{};
  Usage usage;  // of the whole run: CPU time, and the largest memory of one process
};

struct InstanceStatus {
  enum class Phase { unknown, starting, running, ended } phase = Phase::unknown;
  std::optional<ExitStatus> exit;  // when ended
  std::vector<std::string> notes;  // what the kernel refused: "no memory limit: …"
  std::optional<base::Timestamp> started;
};

}  // namespace meridian::run
