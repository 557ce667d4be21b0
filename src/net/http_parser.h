// The strict reader of HTTP/1.1 request heads and chunked bodies (RFC 9112): bytes in, values out.
//
// Promise: whatever two readers could understand differently is refused, so that nothing can be
// smuggled past a proxy or a signature: two lengths, a length with chunked, codings other than
// `chunked`, folded lines, blanks before a colon, line feeds without carriage return, control
// characters, several or malformed hosts. And nothing here grows beyond the limits below.
//
// Pure and fuzzed (tests/fuzz/http_guard_fuzz.cpp). One thread at a time per object.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"

namespace meridian::net {

inline constexpr std::size_t kMaxHeadBytes = 32 * 1024;
inline constexpr std::size_t kMaxHeadFields = 128;
inline constexpr std::size_t kMaxChunkLine = 512;          // size and extensions
inline constexpr std::size_t kMaxTrailerBytes = 8 * 1024;  // all trailer lines together

// What the client is told before the connection closes.
struct Refusal {
  int status = 400;
  std::string message;
};

struct RequestHead {
  std::string method;
  std::string target;  // origin-form (absolute-form is converted), or "*"
  std::string path, query;
  Headers headers;
  int minor_version = 1;  // HTTP/1.x
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;

  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// Finds where a head ends, in bytes that arrive piece by piece.
class HeadFinder {
 public:
  // `bytes`: all that came so far, from the start of the head. The length of the head with its
  // empty line; 0 while it is not complete. One empty line in front is part of the head.
  base::Result<std::size_t, Refusal> find(std::string_view bytes);
  void reset() { *this = {}; }

 private:
  std::size_t line_start_ = 0;
  std::size_t scanned_ = 0;
};

// `bytes`: exactly one head, as found by HeadFinder.
base::Result<RequestHead, Refusal> parse_head(std::string_view bytes);

// The framing of a chunked body. Data bytes never pass through here:
//
//   while (!decoder.ended()) {
//     if (decoder.data_left() > 0) { n = read some, at most data_left(); decoder.took(n); continue;
//     } dropped = decoder.take_framing(inbox); inbox.drop(dropped); if nothing dropped, receive
//     more
//   }
class ChunkDecoder {
 public:
  // How many bytes at the front of `input` were framing and are done with; 0: needs more input
  // (or data comes next, or the body has ended).
  base::Result<std::size_t, Refusal> take_framing(std::string_view input);
  std::uint64_t data_left() const { return data_left_; }
  void took(std::uint64_t count) { data_left_ -= count; }
  bool ended() const { return state_ == State::end; }

 private:
  enum class State { size, data_end, trailer, end };
  std::optional<Refusal> take_line(std::string_view line);

  State state_ = State::size;
  std::uint64_t data_left_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace meridian::net
