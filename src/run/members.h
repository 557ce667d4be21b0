// The directory of a gang on this machine, as its members leave and find it.
//
//   <gang directory>/hold.sock      of the holder of its network (run/inside/gang.h)
//   <gang directory>/members/       <host>.sock of each running instance, <host>.ready once its
//                                   program is set up; seen inside as /opt/meridian/gang
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "run/instance.h"

namespace meridian::run {

void make_gang_directories(const std::filesystem::path& directory);
// File in members/ that says: this host's program is set up. It stays when the host ends.
std::string ready_mark(const std::string& host);
// Takes away what a member left, and the directories with the last of them.
void forget_member(const InstanceSpec& spec);

}  // namespace meridian::run
