// The composition root of `meridian`: the CLI, and the daemon behind `meridian up`.
//
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/cli.h"
#include "daemon.h"
#include "detach.h"
#include "operator_command.h"

namespace {

using meridian::Daemon;
using meridian::DaemonSettings;

std::filesystem::path directory_of_this_program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

DaemonSettings settings_of(const meridian::cli::UpOptions& options) {
  return {.data = std::filesystem::absolute(options.data),
          .listen = options.listen,
          .port = options.port,
          .regions = options.regions,
          .programs = directory_of_this_program(),
          .strict = options.strict,
          .certificate = options.certificate,
          .key = options.key};
}

// Serves until SIGTERM or SIGINT. Both are blocked before the first thread starts, so that only
// this thread sees them.
int serve(const meridian::cli::UpOptions& options) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);

  Daemon daemon(settings_of(options));
  std::fputs(daemon.summary().c_str(), stdout);
  std::fflush(stdout);
  std::stop_source stop;
  std::jthread serving([&] { daemon.wait(stop.get_token()); });
  int received = 0;
  sigwait(&ends, &received);
  meridian::base::log_info("stopping", {{"signal", std::to_string(received)}});
  stop.request_stop();
  return 0;
}

int up(const meridian::cli::UpOptions& options) {
  if (options.detach) return meridian::start_detached(options);
  return serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  return meridian::cli::run(argc, argv,
                            {.up = up,
                             .run_operator = meridian::run_operator,
                             .operator_manifests = meridian::operator_manifests,
                             .version = MERIDIAN_VERSION});
}
