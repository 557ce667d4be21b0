// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <zlib.h>

#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::base {
namespace {

const EVP_MD* algorithm(DigestKind kind) {
  // Fetched once: EVP_sha256() alone makes OpenSSL 3 look the provider up at every use.
  static const std::array<EVP_MD*, 4> fetched{
      EVP_MD_fetch(nullptr, "MD5", nullptr), EVP_MD_fetch(nullptr, "SHA1", nullptr),
      EVP_MD_fetch(nullptr, "SHA256", nullptr), EVP_MD_fetch(nullptr, "SHA512", nullptr)};
  return fetched[static_cast<std::size_t>(kind)];
}

std::string hmac(const EVP_MD* md, std::string_view key, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(md, key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out, &size);
  return std::string(reinterpret_cast<char*>(out), size);
}

// Slicing tables for a reflected polynomial of width W: table[k][b] advances byte b by k more
// bytes.
template <class W>
struct CrcTables {
  std::array<std::array<W, 256>, 8> table{};

  constexpr explicit CrcTables(W polynomial) {
    for (W b = 0; b < 256; ++b) {
      W crc = b;
      for (int i = 0; i < 8; ++i) crc = (crc & 1) != 0 ? (crc >> 1) ^ polynomial : crc >> 1;
      table[0][b] = crc;
    }
    for (std::size_t b = 0; b < 256; ++b) {
      for (std::size_t k = 1; k < 8; ++k) {
        table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 255];
      }
    }
  }

  W update(W crc, std::string_view bytes) const {
    crc = ~crc;
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t n = bytes.size();
    for (; n >= 8; n -= 8, p += 8) {
      std::uint64_t word = 0;
      for (int i = 7; i >= 0; --i) word = word << 8 | p[i];
      word ^= crc;
      W next = 0;
      for (std::size_t i = 0; i < 8; ++i) next ^= table[7 - i][word >> (8 * i) & 255];
      crc = next;
    }
    for (; n > 0; --n, ++p) crc = (crc >> 8) ^ table[0][(crc ^ *p) & 255];
    return ~crc;
  }
};

}  // namespace

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, algorithm(kind), nullptr) != 1) {
    throw Error(Code::internal, "OpenSSL refuses a digest algorithm");
  }
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

std::string Digest::finish() {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(state_->context, out, &size);
  return std::string(reinterpret_cast<char*>(out), size);
}

std::string digest(DigestKind kind, std::string_view bytes) {
  Digest d(kind);
  d.update(bytes);
  return d.finish();
}

std::string sha256_hex(std::string_view bytes) { return hex(digest(DigestKind::sha256, bytes)); }
std::string md5_hex(std::string_view bytes) { return hex(digest(DigestKind::md5, bytes)); }

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  return hmac(algorithm(DigestKind::sha256), key, bytes);
}

std::string hmac_sha1(std::string_view key, std::string_view bytes) {
  return hmac(algorithm(DigestKind::sha1), key, bytes);
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::uint32_t crc32(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t crc32c(std::uint32_t crc, std::string_view bytes) {
  static const CrcTables<std::uint32_t> tables(0x82f63b78u);
  return tables.update(crc, bytes);
}

std::uint64_t crc64nvme(std::uint64_t crc, std::string_view bytes) {
  static const CrcTables<std::uint64_t> tables(0x9a6c9329ac4bc9b5ull);
  return tables.update(crc, bytes);
}

}  // namespace meridian::base
