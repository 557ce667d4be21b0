// A bound, listening socket: TCP or unix.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"
#include "net/server.h"

namespace meridian::net {

struct Accepted {
  base::UniqueFd socket;  // non-blocking; empty when nobody waits
  std::string peer;       // "127.0.0.1:4711", "[::1]:4711" or "unix"
  int error = 0;          // errno when accepting failed for another reason
};

class Listener {
 public:
  // Error(failed_precondition) when the address is taken: says by whom it may be held, what to do.
  explicit Listener(const ListenAddress& address);
  ~Listener();  // removes its unix socket
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int fd() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }  // 0 for a unix socket
  Accepted accept() const;                      // never waits
  void close();

 private:
  void bind_tcp(const ListenAddress& address);
  void bind_unix(const std::string& path);

  base::UniqueFd socket_;
  std::uint16_t port_ = 0;
  std::string unix_path_;
  std::uint64_t unix_inode_ = 0;
};

}  // namespace meridian::net
