// The command line of Meridian: everything but the daemon itself, which main.cpp composes.
//
//   int main(int argc, char** argv) {
//     return meridian::cli::run(argc, argv, {.up = start_the_daemon, .version = "0.1.0"});
//   }
//
// The commands are a client like any other: they find the installation by DATA/run.json and
// DATA/credentials, and speak its AWS face with signed requests. Results go to stdout, progress and
// errors to stderr. Exit status: 0 good, 1 the command or the job failed, 2 unknown words, 130
// detached by Ctrl-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace meridian::cli {

// What `meridian up` was asked for.
struct UpOptions {
  std::filesystem::path data;
  std::uint16_t port = 8470;  // N: AWS face, N+2: admin; 0 = any free
  std::string listen = "127.0.0.1";
  std::vector<std::string> regions;  // empty: config.yaml, else us-west-2
  bool detach = false;
  bool strict = false;           // refuse what promises security that is not given
  std::string certificate, key;  // PEM; needed when `listen` is not loopback
};

// What `meridian operator run` was asked for.
struct OperatorOptions {
  std::filesystem::path kubeconfig;  // empty: $KUBECONFIG, ~/.kube/config, the pod's account
  std::string context;
  std::string watched_namespace;  // empty: all
  bool leader_elect = false;
  std::string lease_namespace;         // empty: the access's own
  std::filesystem::path regions_file;  // not there: only AWS, with the environment's credentials
  std::filesystem::path webhook_certificate;  // directory with tls.crt and tls.key; empty = none
  int webhook_port = 9443;
};

// What `meridian operator manifests` was asked for.
struct ManifestOptions {
  std::string ns = "meridian-system", image = "meridian:latest", watched_namespace;
  bool only_crds = false, webhook = false;
};

struct Hooks {
  std::function<int(const UpOptions&)> up;
  std::function<int(const OperatorOptions&)> run_operator;
  std::function<std::vector<base::Json>(const ManifestOptions&)> operator_manifests;
  std::string version;
};

// Parses, runs one command, prints errors; never throws.
int run(int argc, char** argv, const Hooks& hooks);

// Contents of DATA/bin/aws: runs the next `aws` on PATH and adds --endpoint-url for versions that
// do not read AWS_ENDPOINT_URL themselves (v2 before 2.13, v1 before 1.29).
std::string aws_wrapper_script();

// Contents of DATA/bin/kubectl-smlogs, which makes `kubectl smlogs` out of `meridian smlogs`.
std::string smlogs_plugin_script(const std::filesystem::path& program,
                                 const std::filesystem::path& data);

}  // namespace meridian::cli
