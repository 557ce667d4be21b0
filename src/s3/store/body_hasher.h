// MD5 and one more checksum of a body that is being written to a file at the same time.
//
// From the second buffer on a thread of its own hashes: MD5 is slower than the disk's cache and the
// loopback together, so the three must overlap. What fits into one buffer costs no thread. Buffers
// go round: take_buffer() → fill → add() → write the returned bytes → written().
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
  struct Sums {
    std::string md5;                      // hex
    std::optional<std::string> checksum;  // base64
  };

  BodyHasher(std::optional<ChecksumKind> checksum, std::size_t buffer_bytes);
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
