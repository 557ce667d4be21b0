// Carries TCP connections made inside a network namespace to a unix socket of the daemon, so that
// clients inside reach its endpoint at http://127.0.0.1:PORT as everywhere else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace meridian::run {

// Starts the forwarder as a process that dies with this one; listens on 127.0.0.1:port of the
// calling process's network namespace, beside the forwarders of other instances there.
pid_t start_forwarder(std::uint16_t port, const std::string& unix_socket);

}  // namespace meridian::run
