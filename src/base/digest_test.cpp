// Against the vectors of the standards: RFC 1321, FIPS 180-4, RFC 4231, RFC 2202, the CRC
// catalogue.
//
// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <gtest/gtest.h>

#include <random>

#include "base/strings.h"

namespace meridian::base {
namespace {

constexpr std::string_view kCheck = "123456789";

TEST(Digest, AgreesWithTheStandards) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex(digest(DigestKind::sha1, "abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(digest(DigestKind::sha512, "abc")).substr(0, 32),
            "ddaf35a193617abacc417349ae204131");
}

TEST(Digest, InPartsIsTheSameAsAtOnce) {
  Digest parts(DigestKind::sha256);
  parts.update("a");
  parts.update("");
  parts.update("bc");
  Digest moved = std::move(parts);
  EXPECT_EQ(moved.finish(), digest(DigestKind::sha256, "abc"));
}

TEST(Digest, HmacAgreesWithTheStandards) {
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha1("Jefe", "what do ya want for nothing?")),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  EXPECT_EQ(hex(hmac_sha256("", "")),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Digest, ChecksumsAgreeWithTheCatalogue) {
  EXPECT_EQ(crc32(0, kCheck), 0xcbf43926u);
  EXPECT_EQ(crc32c(0, kCheck), 0xe3069283u);
  EXPECT_EQ(crc64nvme(0, kCheck), 0xae8b14860a799888ull);
  EXPECT_EQ(crc32(0, ""), 0u);
  EXPECT_EQ(crc32c(0, ""), 0u);
  EXPECT_EQ(crc64nvme(0, ""), 0u);
  EXPECT_EQ(crc32c(0, std::string(32, '\0')), 0x8a9136aau);  // RFC 3720 B.4
  EXPECT_EQ(crc32c(0, std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Digest, ChecksumsGoOnWhereTheyStopped) {
  std::mt19937_64 random(3);
  std::string bytes(257, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  for (std::size_t cut = 0; cut <= bytes.size(); cut += 19) {
    const auto head = std::string_view(bytes).substr(0, cut);
    const auto tail = std::string_view(bytes).substr(cut);
    EXPECT_EQ(crc32(crc32(0, head), tail), crc32(0, bytes));
    EXPECT_EQ(crc32c(crc32c(0, head), tail), crc32c(0, bytes));
    EXPECT_EQ(crc64nvme(crc64nvme(0, head), tail), crc64nvme(0, bytes));
  }
}

TEST(Digest, EqualityInConstantTimeIsEquality) {
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace meridian::base
