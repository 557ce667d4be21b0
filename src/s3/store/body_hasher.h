// MD5 and one more checksum of a body that is being written to a file at the same time.
//
// Large bodies are hashed by a second thread: MD5 is slower than the disk's cache and the loopback
// together, so the three must overlap. Buffers go round: take_buffer() → fill → add() → write the
// returned bytes → written().
//
// One thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "s3/store/checksum.h"

namespace meridian::s3 {

class BodyHasher {
 public:
  enum class Mode { inline_, own_thread };
  struct Sums {
    std::string md5;                      // hex
    std::optional<std::string> checksum;  // base64
  };

  BodyHasher(std::optional<ChecksumKind> checksum, std::size_t buffer_bytes, Mode mode);
  ~BodyHasher();

  std::string take_buffer();                 // of buffer_bytes; waits while all are in use
  std::string_view add(std::string buffer);  // valid until written()
  void written();                            // the bytes of the last add() are no longer needed
  Sums finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::s3
