// SPDX-License-Identifier: Apache-2.0
#include "s3/store/checksum.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/strings.h"

namespace meridian::s3 {
namespace {

constexpr ChecksumKind all_kinds[]{ChecksumKind::crc32, ChecksumKind::crc32c,
                                   ChecksumKind::crc64nvme, ChecksumKind::sha1,
                                   ChecksumKind::sha256};

TEST(Checksum, KnownValuesOfTheCheckString) {
  // The "check" values of the CRC catalogue for "123456789".
  EXPECT_EQ(checksum_of(ChecksumKind::crc32, "123456789"), base::base64("\xcb\xf4\x39\x26"));
  EXPECT_EQ(checksum_of(ChecksumKind::crc32c, "123456789"), base::base64("\xe3\x06\x92\x83"));
  EXPECT_EQ(checksum_of(ChecksumKind::crc64nvme, "123456789"),
            base::base64("\xae\x8b\x14\x86\x0a\x79\x98\x88"));
}

TEST(Checksum, TheValueOfAClientIsReproduced) {
  // "hello world" as boto3 sends it.
  EXPECT_EQ(checksum_of(ChecksumKind::crc32, "hello world"), "DUoRhQ==");
}

TEST(Checksum, ACrcOfPartsIsTheCrcOfTheWhole) {
  base::SeededRandom random(11);
  for (auto kind : {ChecksumKind::crc32, ChecksumKind::crc32c, ChecksumKind::crc64nvme}) {
    std::string whole;
    std::vector<PartChecksum> parts;
    for (std::size_t size : {1u, 7u, 0u, 4096u, 100'003u}) {
      const auto bytes = random.bytes(size);
      whole += bytes;
      parts.push_back({checksum_of(kind, bytes), size});
    }
    EXPECT_EQ(full_object_checksum(kind, parts), checksum_of(kind, whole)) << name(kind);
  }
}

TEST(Checksum, ACompositeSumsTheRawSumsOfTheParts) {
  const std::vector<PartChecksum> parts{{checksum_of(ChecksumKind::sha256, "a"), 1},
                                        {checksum_of(ChecksumKind::sha256, "b"), 1}};
  const auto raw = *base::unbase64(parts[0].value) + *base::unbase64(parts[1].value);
  EXPECT_EQ(composite_checksum(ChecksumKind::sha256, parts),
            checksum_of(ChecksumKind::sha256, raw) + "-2");
}

TEST(Checksum, NamesAreReadInAnyCase) {
  for (auto kind : all_kinds) {
    EXPECT_EQ(parse_checksum_kind(name(kind)), kind);
    EXPECT_EQ(parse_checksum_kind(base::to_lower(name(kind))), kind);
    EXPECT_EQ(base::unbase64(checksum_of(kind, "x"))->size(), raw_size(kind));
  }
  EXPECT_EQ(parse_checksum_kind("algorithm"), std::nullopt);
}

}  // namespace
}  // namespace meridian::s3
