// A gang's network: one namespace that its instances on this machine share, with `lo` and an
// `eth0`, so that two jobs may use the same port.
//
// A holder process owns it. It is started by the first instance that needs it, belongs to no
// daemon, hands the namespace to each member, and ends (with the namespace, the gang's directory
// and the program that gives outward network) a moment after the last member's connection closed.
//
//   <gang directory>/hold.sock      members connect; the answer carries the namespaces
//   <gang directory>/members/       <host>.sock of each running instance, seen inside as
//                                   /opt/meridian/gang: what MPI's launch agent talks to
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "run/instance.h"

namespace meridian::run {

struct GangMembership {
  base::UniqueFd hold;  // closed = left
  base::UniqueFd network_namespace, user_namespace;
  std::vector<std::string> notes;
};

// Starts the holder when there is none. Error(unavailable) when the kernel refuses the namespace.
GangMembership join_gang(const InstanceSpec& spec);

// `meridian-init gang-hold DIRECTORY outward|isolated USER GROUP`: becomes the holder in a session
// of its own; returns in the caller's process. Does nothing when the directory has a holder.
int start_gang_holder(const std::vector<std::string>& arguments);

}  // namespace meridian::run
