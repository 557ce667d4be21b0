// SPDX-License-Identifier: Apache-2.0
#include "s3/store/checksum.h"

#include <array>

#include "base/strings.h"

namespace meridian::s3 {
namespace {

struct Kind {
  std::string_view name;
  std::size_t raw_size;
  std::uint64_t polynomial;  // reflected; CRC kinds only
};
constexpr std::array<Kind, 5> kinds{{{"CRC32", 4, 0xEDB88320},
                                     {"CRC32C", 4, 0x82F63B78},
                                     {"CRC64NVME", 8, 0x9A6C9329AC4BC9B5},
                                     {"SHA1", 20, 0},
                                     {"SHA256", 32, 0}}};

const Kind& of(ChecksumKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) out[bytes - 1 - i] = static_cast<char>(value >> (8 * i));
  return out;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (unsigned char byte : bytes) value = value << 8 | byte;
  return value;
}

// a·b modulo the polynomial, both reflected: bit `width - 1` is x⁰.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b, std::uint64_t polynomial, int width) {
  std::uint64_t product = 0;
  for (std::uint64_t bit = std::uint64_t{1} << (width - 1); bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = (b & 1) ? (b >> 1) ^ polynomial : b >> 1;
  }
  return product;
}

// The CRC of A‖B from the CRCs of A and B: crc(A)·x^(8·|B|) + crc(B).
std::uint64_t combine(std::uint64_t a, std::uint64_t b, std::uint64_t size_of_b, const Kind& kind) {
  const int width = static_cast<int>(kind.raw_size) * 8;
  std::uint64_t power = std::uint64_t{1} << (width - 1);   // x⁰
  std::uint64_t square = std::uint64_t{1} << (width - 9);  // x⁸
  for (; size_of_b != 0; size_of_b >>= 1) {
    if (size_of_b & 1) power = multiply(power, square, kind.polynomial, width);
    square = multiply(square, square, kind.polynomial, width);
  }
  return multiply(a, power, kind.polynomial, width) ^ b;
}

}  // namespace

std::string_view name(ChecksumKind kind) { return of(kind).name; }
std::string header_name(ChecksumKind kind) {
  return "x-amz-checksum-" + base::to_lower(name(kind));
}
std::string xml_name(ChecksumKind kind) { return "Checksum" + std::string(name(kind)); }
std::size_t raw_size(ChecksumKind kind) { return of(kind).raw_size; }
bool is_crc(ChecksumKind kind) { return of(kind).polynomial != 0; }

std::optional<ChecksumKind> parse_checksum_kind(std::string_view text) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (base::equals_ignoring_case(text, kinds[i].name)) return static_cast<ChecksumKind>(i);
  }
  return std::nullopt;
}

RunningChecksum::RunningChecksum(ChecksumKind kind) : kind_(kind) {
  if (kind == ChecksumKind::sha1) digest_.emplace(base::DigestKind::sha1);
  if (kind == ChecksumKind::sha256) digest_.emplace(base::DigestKind::sha256);
}

void RunningChecksum::update(std::string_view bytes) {
  switch (kind_) {
    case ChecksumKind::crc32: crc_ = base::crc32(static_cast<std::uint32_t>(crc_), bytes); break;
    case ChecksumKind::crc32c: crc_ = base::crc32c(static_cast<std::uint32_t>(crc_), bytes); break;
    case ChecksumKind::crc64nvme: crc_ = base::crc64nvme(crc_, bytes); break;
    case ChecksumKind::sha1:
    case ChecksumKind::sha256: digest_->update(bytes); break;
  }
}

std::string RunningChecksum::finish() {
  return base::base64(digest_ ? digest_->finish() : big_endian(crc_, raw_size(kind_)));
}

std::string checksum_of(ChecksumKind kind, std::string_view bytes) {
  RunningChecksum running(kind);
  running.update(bytes);
  return running.finish();
}

std::string composite_checksum(ChecksumKind kind, const std::vector<PartChecksum>& parts) {
  std::string raw;
  for (const auto& part : parts) raw += base::unbase64(part.value).value_or("");
  return checksum_of(kind, raw) + "-" + std::to_string(parts.size());
}

std::string full_object_checksum(ChecksumKind kind, const std::vector<PartChecksum>& parts) {
  std::uint64_t crc = 0;
  for (const auto& part : parts) {
    const auto next = from_big_endian(base::unbase64(part.value).value_or(""));
    crc = combine(crc, next, part.size, of(kind));
  }
  return base::base64(big_endian(crc, raw_size(kind)));
}

}  // namespace meridian::s3
