// Digests and checksums over OpenSSL, each algorithm fetched once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace meridian::base {

enum class DigestKind { md5, sha1, sha256, sha512 };

// Incremental; one thread at a time.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  void update(std::string_view bytes);
  std::string finish();  // raw bytes; the object is then spent

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string digest(DigestKind kind, std::string_view bytes);  // raw bytes
std::string sha256_hex(std::string_view bytes);
std::string md5_hex(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);  // raw bytes
std::string hmac_sha1(std::string_view key, std::string_view bytes);    // raw bytes

// Takes the same time for equal and different contents of the same length.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Continue with the value returned for the bytes before; start with 0.
std::uint32_t crc32(std::uint32_t crc, std::string_view bytes);      // ISO-HDLC (zlib)
std::uint32_t crc32c(std::uint32_t crc, std::string_view bytes);     // Castagnoli
std::uint64_t crc64nvme(std::uint64_t crc, std::string_view bytes);  // NVM Express

}  // namespace meridian::base
