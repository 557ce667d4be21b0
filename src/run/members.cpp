// SPDX-License-Identifier: Apache-2.0
#include "run/members.h"

#include <unistd.h>

#include "base/file.h"

namespace meridian::run {
namespace fs = std::filesystem;

void make_gang_directories(const fs::path& directory) {
  base::make_directories(directory, 0700);
  // Programs of the gang look their sockets up here, through a bind mount of this directory only.
  base::make_directories(directory / "members", 0755);
}

std::string ready_mark(const std::string& host) { return host + ".ready"; }

void forget_member(const InstanceSpec& spec) {
  const fs::path members = spec.gang_directory / "members";
  std::error_code ignored;
  for (const std::string& name : {spec.hostname + ".sock", ready_mark(spec.hostname)}) {
    fs::remove(members / name, ignored);
  }
  rmdir(members.c_str());
  rmdir(spec.gang_directory.c_str());
}

}  // namespace meridian::run
