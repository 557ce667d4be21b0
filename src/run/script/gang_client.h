// Talks to the supervisors of one's gang from inside an instance (run/inside/request_server.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace meridian::run {

// Says to the other hosts that this one is set up.
void announce_ready(const std::string& own_host);

// Waits until every host said so. Error(deadline_exceeded) names those that did not.
void wait_for_hosts(const std::vector<std::string>& hosts, base::Duration patience);

// Waits until the program of `host` has ended; false when the host was lost.
bool wait_for_end_of(const std::string& host);

// `meridian-init await HOST`: the same as a program; 0, or 1 with a message.
int await_end_of(const std::string& host);

// `meridian-init rsh HOST COMMAND…`: runs the words, joined by blanks as ssh does, in a shell on
// that host, with this process's standard streams. Returns the exit code for this process: the
// command's, 128 + signal, or 255 when the host is lost or does not come up in time.
int run_remote_shell(const std::vector<std::string>& arguments);

// MERIDIAN_RENDEZVOUS_SECONDS, else the fallback.
base::Duration rendezvous_patience(base::Duration fallback);

}  // namespace meridian::run
