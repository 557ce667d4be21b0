// The checksums of S3's "additional checksum" headers, over whole objects and over parts.
//
// Source: "Checking object integrity in Amazon S3", S3 User Guide. A composite checksum is the
// checksum of the parts' raw checksums, "-N" appended; a full-object CRC of a multipart object is
// computed from the parts' CRCs and lengths without reading anything again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"

namespace meridian::s3 {

enum class ChecksumKind { crc32, crc32c, crc64nvme, sha1, sha256 };

std::string_view name(ChecksumKind kind);    // "CRC32", as in x-amz-checksum-algorithm
std::string header_name(ChecksumKind kind);  // "x-amz-checksum-crc32"
std::string xml_name(ChecksumKind kind);     // "ChecksumCRC32"
std::size_t raw_size(ChecksumKind kind);     // bytes of the value before base64
bool is_crc(ChecksumKind kind);
std::optional<ChecksumKind> parse_checksum_kind(std::string_view text);  // case is ignored

struct Checksum {
  ChecksumKind kind = ChecksumKind::crc32;
  std::string value;       // base64, with "-N" when composite
  bool composite = false;  // FULL_OBJECT otherwise
};

// Incremental; one thread at a time.
class RunningChecksum {
 public:
  explicit RunningChecksum(ChecksumKind kind);
  void update(std::string_view bytes);
  std::string finish();  // base64

 private:
  ChecksumKind kind_;
  std::uint64_t crc_ = 0;
  std::optional<base::Digest> digest_;
};

std::string checksum_of(ChecksumKind kind, std::string_view bytes);  // base64

struct PartChecksum {
  std::string value;  // base64
  std::uint64_t size = 0;
};
std::string composite_checksum(ChecksumKind kind, const std::vector<PartChecksum>& parts);
// CRC kinds only.
std::string full_object_checksum(ChecksumKind kind, const std::vector<PartChecksum>& parts);

}  // namespace meridian::s3
