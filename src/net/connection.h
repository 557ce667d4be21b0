// What the server knows of one connection between and during requests.
//
// States, all changes under `mutex`:
//
//            accepted
//               │
//               ▼    readable (poller)
//   ┌──────► parked ───────────────────► busy ──► closed (its worker)
//   │           │                          │
//   │           └─► closed (poller: late)  │ head not complete, or answered and kept
//   └──────────────────────────────────────┘
//
// A parked connection belongs to the poller, a busy one to exactly one worker; epoll's one-shot
// mode sees to it that no event arrives for a busy one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "net/http_parser.h"
#include "net/stream.h"

namespace meridian::net {

// Bytes received and not yet used. A connection that waits holds no memory for it.
class Inbox {
 public:
  std::string_view pending() const { return std::string_view(bytes_).substr(at_); }
  bool empty() const { return at_ == bytes_.size(); }
  void append(const char* bytes, std::size_t count) {
    bytes_.erase(0, at_);
    at_ = 0;
    bytes_.append(bytes, count);
  }
  void drop(std::size_t count) {
    at_ += count;
    if (empty()) clear();
  }
  void clear() {
    at_ = 0;
    bytes_.clear();
    if (bytes_.capacity() > 1024) bytes_.shrink_to_fit();
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct Connection {
  using Time = std::chrono::steady_clock::time_point;

  Connection(Stream s, std::string p) : stream(std::move(s)), peer(std::move(p)) {}

  Stream stream;
  const std::string peer;
  Inbox inbox;
  HeadFinder finder;
  Time head_deadline{};   // for the head that has begun to arrive
  bool greeted = false;   // the TLS greeting is over
  bool draining = false;  // answered for the last time; what still comes is dropped

  std::mutex mutex;
  bool parked = false;
  Time deadline{};  // when a parked connection is closed
};

}  // namespace meridian::net
