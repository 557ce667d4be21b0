// One accepted connection as bytes: a non-blocking socket, plain or TLS, with waits that end.
//
// The try_ functions never wait. The others wait at most `timeout` without a byte moving, then
// throw Error(deadline_exceeded); Error(unavailable) when the peer is gone. One thread at a time,
// except interrupt() and peer_closed().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/file.h"
#include "net/tls.h"

namespace meridian::net {

class Stream {
 public:
  using Timeout = std::chrono::milliseconds;
  enum class Outcome { moved, end, want_read, want_write, failed };
  struct Progress {
    Outcome outcome;
    std::size_t bytes = 0;
  };

  // Plain when `tls` is null.
  Stream(base::UniqueFd socket, TlsSession tls)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  int fd() const { return socket_.get(); }
  bool secure() const { return tls_ != nullptr; }

  // One step of the TLS greeting; `moved` once it is complete (at once when plain).
  Progress try_greet();
  Progress try_read(char* buffer, std::size_t size);
  Progress try_write(std::string_view bytes, int flags = 0);  // flags: of send(2)
  // Reads and forgets what has come, whatever it is: for a connection about to be closed.
  Progress try_discard();

  std::size_t read(char* buffer, std::size_t size, Timeout timeout);  // 0: the peer sent its end
  void write(std::string_view bytes, Timeout timeout) { write_flagged(bytes, 0, timeout); }
  void write(std::span<iovec> pieces, Timeout timeout);      // uses `pieces` up
  void write_more(std::string_view bytes, Timeout timeout);  // more follows at once
  // `count` bytes of `file` from `offset`; Error(data_loss) when the file is shorter.
  void send_file(int file, std::uint64_t offset, std::uint64_t count, Timeout timeout);

  void end_writing();        // the peer sees the end after what was written
  void interrupt();          // fails all waits of another thread, now and later
  bool peer_closed() const;  // the peer has closed its end or the connection is broken

 private:
  Progress tls_progress(int result);
  void wait(Outcome wanted, Timeout timeout) const;
  void write_flagged(std::string_view bytes, int flags, Timeout timeout);
  void copy_file(int file, std::uint64_t offset, std::uint64_t count, Timeout timeout);

  base::UniqueFd socket_;
  TlsSession tls_;
  bool greeted_ = false;
};

}  // namespace meridian::net
