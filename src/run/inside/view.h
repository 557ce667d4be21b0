// What an instance sees of the file system: the host's programs read-only, its own /opt, /tmp,
// /dev, /proc and /etc/hosts, the mounts of its spec, and nothing of the directories to hide.
//
// Called by the instance's first process, in namespaces of its own, with every capability over
// them; afterwards the new root is in place. Needs no directory to exist on the host beforehand.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "run/inside/file_server.h"
#include "run/instance.h"

namespace meridian::run {

struct View {
  const InstanceSpec& spec;
  bool real_root = false;  // privileged over the whole machine, not only in a user namespace
  std::string init_program;
  std::map<std::size_t, FileServer>& files;  // of mounts on demand, by index of the spec's mounts
};

// Throws Error naming the mount that failed. Appends to `notes` what had to be done another way.
void enter_view(const View& view, std::vector<std::string>& notes);

// The user a program runs as: the spec's when we are root, else our own.
std::uint32_t program_user(const InstanceSpec& spec);
std::uint32_t program_group(const InstanceSpec& spec);

}  // namespace meridian::run
