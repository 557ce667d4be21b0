// Sets up the interfaces of a new network namespace: `lo`, and a veth pair whose one end is `eth0`
// with an address, because MPI's usual flags name eth0 and refuse a machine that has only lo.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace meridian::run {

// In the calling process's namespace. What is missing afterwards is in `notes`.
void set_up_gang_network(std::vector<std::string>& notes);

}  // namespace meridian::run
