// One request of the client while libcurl runs it: what its callbacks read and fill.
//
// They are called by C code, so that nothing may be thrown through them: the first exception is
// kept in `failure` and ends the transfer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>

#include "net/client.h"

namespace meridian::net {

using BodySink = std::function<void(std::string_view)>;

struct Transfer {
  using Time = std::chrono::steady_clock;

  const ClientRequest& request;
  const BodySink* sink;  // may be null
  Response response;
  bool head_done = false;
  std::size_t body_at = 0;        // how much of request.body is sent
  std::uint64_t stream_sent = 0;  // how much of request.stream is sent
  std::exception_ptr failure;
  Time::time_point last_progress = Time::now();

  // Sets the callbacks of `easy` (a CURL*); the transfer must outlive its run.
  void attach(void* easy);
};

}  // namespace meridian::net
