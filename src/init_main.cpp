// meridian-init: what stands between the daemon and a program (src/run).
//
//   meridian-init run DIRECTORY          supervise the instance described there
//   meridian-init gang-hold DIRECTORY …  own a gang's network namespace (started by `run`)
//   meridian-init files-probe DIRECTORY  say whether channels can be read on demand here
//   meridian-init script                 inside: fetch requirements, meet the other hosts, train
//   meridian-init rsh HOST COMMAND…      inside: run a command on another host of the gang
//   meridian-init await HOST             inside: stay until the program of another host has ended
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "run/inside/file_server.h"
#include "run/inside/gang.h"
#include "run/inside/supervisor.h"
#include "run/script/gang_client.h"
#include "run/script/script_runner.h"

namespace {

int run_command(const std::string& command, const std::vector<std::string>& arguments) {
  namespace run = meridian::run;
  if (command == "run" && arguments.size() == 1) return run::start_supervisor(arguments[0]);
  if (command == "gang-hold") return run::start_gang_holder(arguments);
  if (command == "files-probe" && arguments.size() == 1) return run::probe_files(arguments[0]);
  if (command == "script") return run::run_script();
  if (command == "await" && arguments.size() == 1) return run::await_end_of(arguments[0]);
  if (command == "rsh") return run::run_remote_shell(arguments);
  std::fprintf(stderr,
               "meridian-init: part of Meridian, started by `meridian up`; not for people.\n"
               "usage: meridian-init run DIRECTORY | gang-hold DIRECTORY … | "
               "files-probe DIRECTORY | script | "
               "rsh HOST COMMAND… | await HOST\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meridian-init: %s\n", error.what());
    return 1;
  }
}
