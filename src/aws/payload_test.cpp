// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "aws/canonical.h"
#include "aws/sigv4.h"
#include "base/digest.h"
#include "base/random.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

// Hands the bytes out in pieces of a given size, as a network does.
class Pieces final : public net::BodyReader {
 public:
  Pieces(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t count = std::min({size, piece_, bytes_.size() - at_});
    bytes_.copy(buffer, count, at_);
    at_ += count;
    return count;
  }
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  std::string bytes_;
  std::size_t piece_, at_ = 0;
};

struct Outcome {
  std::string body, error;
  net::Headers trailers;
};

struct Setting {
  PayloadForm form = PayloadForm::chunked_unsigned_trailer;
  std::string decoded_length, trailer, sha256, seed;
  AuthClaim claim;
  std::string secret = "s";
};

Outcome read(const Setting& setting, net::BodyReader& body, std::size_t buffer_size = 1000) {
  net::Request request;
  if (!setting.decoded_length.empty()) {
    request.headers.add("X-Amz-Decoded-Content-Length", setting.decoded_length);
  }
  if (!setting.trailer.empty()) request.headers.add("X-Amz-Trailer", setting.trailer);
  Verification verification{.verdict = Verdict::good,
                            .payload = setting.form,
                            .expected_sha256 = setting.sha256,
                            .seed_signature = setting.seed};
  Outcome out;
  try {
    PayloadReader reader(body, request, setting.claim, verification, setting.secret);
    std::string buffer(buffer_size, '\0');
    while (const auto count = reader.read(buffer.data(), buffer.size())) {
      out.body.append(buffer, 0, count);
    }
    out.trailers = reader.trailers();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::data_loss);
    out.error = error.message().substr(0, error.message().find(':'));
  }
  return out;
}

Outcome read(const Setting& setting, const std::string& wire, std::size_t piece = 1 << 20) {
  Pieces body(wire, piece);
  return read(setting, body);
}

// As boto3 sends it: one CRLF more than the specification has.
const std::string boto3_wire = "b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n\r\n";

Setting boto3_setting() { return {.decoded_length = "11", .trailer = "x-amz-checksum-crc32"}; }

TEST(Payload, OfBoto3OverTlsIsDecodedWithItsTrailer) {
  const auto seen = read(boto3_setting(), boto3_wire);
  EXPECT_EQ(seen.error, "");
  EXPECT_EQ(seen.body, "hello world");
  EXPECT_EQ(seen.trailers.get("x-amz-checksum-crc32"), "DUoRhQ==");
}

TEST(Payload, IsTheSameHoweverTheNetworkCutsIt) {
  for (std::size_t piece = 1; piece <= boto3_wire.size(); ++piece) {
    EXPECT_EQ(read(boto3_setting(), boto3_wire, piece).body, "hello world") << piece;
  }
}

TEST(Payload, CutShortAnywhereIsAnError) {
  // The last CRLFs carry nothing; without the trailer's line the checksum is missing.
  const std::size_t needed = boto3_wire.find("DUoRhQ==");
  for (std::size_t size = 0; size < needed - 1; ++size) {
    EXPECT_NE(read(boto3_setting(), boto3_wire.substr(0, size)).error, "") << size;
  }
}

TEST(Payload, TrailersAreKnownWithTheLastByte) {
  Pieces body(boto3_wire, 1 << 20);
  net::Request request;
  request.headers.add("x-amz-decoded-content-length", "11");
  request.headers.add("x-amz-trailer", "x-amz-checksum-crc32");
  PayloadReader reader(body, request, {}, {.payload = PayloadForm::chunked_unsigned_trailer}, "");
  char buffer[11];
  ASSERT_EQ(reader.read(buffer, 11), 11u);
  EXPECT_EQ(reader.length(), 11u);
  EXPECT_TRUE(reader.trailers().find("x-amz-checksum-crc32"));
}

TEST(Payload, DoubtfulFramingIsRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {"c\r\nhello world!\r\n0\r\n\r\n", "IncompleteBody"},        // longer than announced
      {"a\r\nhello worl\r\n0\r\n\r\n", "IncompleteBody"},          // shorter than announced
      {"b\r\nhello world0\r\n\r\n", "IncompleteBody"},             // chunk without its CRLF
      {"\r\n", "IncompleteBody"},                                  // no size
      {"-1\r\n", "IncompleteBody"},                                // not a size
      {"ffffffffffffffff\r\n", "IncompleteBody"},                  // a size that would wrap
      {"b\r\nhello world\r\n0\r\n\r\n", "MalformedTrailerError"},  // announced trailer missing
      {"b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:a\r\nx-other:b\r\n\r\n",
       "MalformedTrailerError"},
      {"b\r\nhello world\r\n0\r\nno colon\r\n\r\n", "MalformedTrailerError"},
      {"b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:" + std::string(20'000, 'a') + "\r\n\r\n",
       "IncompleteBody"},
  };
  for (const auto& [wire, code] : cases) {
    EXPECT_EQ(read(boto3_setting(), wire).error, code) << wire.substr(0, 60);
  }
}

TEST(Payload, WithoutADecodedLengthIsRefused) {
  EXPECT_EQ(read({.trailer = "x"}, boto3_wire).error, "MissingContentLength");
}

TEST(Payload, SignedHashIsCheckedBeforeTheLastByteIsGiven) {
  const std::string text = "hello world";
  Setting setting{.form = PayloadForm::signed_hash, .sha256 = base::sha256_hex(text)};
  net::StringBody good(text), bad("hello World");
  EXPECT_EQ(read(setting, good).body, text);
  const auto seen = read(setting, bad);
  EXPECT_EQ(seen.error, "XAmzContentSHA256Mismatch");
  EXPECT_EQ(seen.body, "");
}

TEST(Payload, EmptySignedBodyIsChecked) {
  net::StringBody empty("");
  EXPECT_EQ(
      read({.form = PayloadForm::signed_hash, .sha256 = std::string(empty_sha256)}, empty).error,
      "");
  net::StringBody again("");
  EXPECT_EQ(read({.form = PayloadForm::signed_hash, .sha256 = base::sha256_hex("x")}, again).error,
            "XAmzContentSHA256Mismatch");
}

TEST(Payload, UnsignedBodyPassesAsItIs) {
  net::StringBody body("anything");
  EXPECT_EQ(read({.form = PayloadForm::unsigned_payload}, body).body, "anything");
}

// The example of "Signature calculations: transferring payload in multiple chunks", S3 API
// reference: 66,560 letters 'a' in chunks of 64 KiB.
Setting aws_example() {
  return {.form = PayloadForm::chunked_signed,
          .decoded_length = "66560",
          .seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9",
          .claim = {.date = "20130524",
                    .region = "us-east-1",
                    .service = "s3",
                    .amz_date = "20130524T000000Z"},
          .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
}

std::string aws_example_wire() {
  return "10000;chunk-signature="
         "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" +
         std::string(65536, 'a') +
         "\r\n400;chunk-signature="
         "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" +
         std::string(1024, 'a') +
         "\r\n0;chunk-signature="
         "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";
}

TEST(Payload, TheSignedChunksOfTheReferenceAreAccepted) {
  const auto seen = read(aws_example(), aws_example_wire(), 777);
  EXPECT_EQ(seen.error, "");
  EXPECT_EQ(seen.body, std::string(66560, 'a'));
}

TEST(Payload, AChangedByteInASignedChunkIsRefused) {
  for (const std::size_t at : {90u, 65'600u, 65'700u, 66'700u}) {
    std::string wire = aws_example_wire();
    ASSERT_LT(at, wire.size());
    wire[at] = wire[at] == 'b' ? 'c' : 'b';
    EXPECT_NE(read(aws_example(), wire).error, "") << at;
  }
}

// Signs chunks as a client would.
std::string signed_wire(const Setting& setting, const std::vector<std::string>& chunks,
                        const std::string& trailer) {
  const auto& claim = setting.claim;
  const auto key = signing_key(setting.secret, claim.date, claim.region, claim.service);
  const std::string scope = claim.date + "/" + claim.region + "/" + claim.service + "/aws4_request";
  std::string previous = setting.seed, wire;
  for (const auto& chunk : chunks) {
    previous = base::hex(base::hmac_sha256(
        key, "AWS4-HMAC-SHA256-PAYLOAD\n" + claim.amz_date + "\n" + scope + "\n" + previous + "\n" +
                 std::string(empty_sha256) + "\n" + base::sha256_hex(chunk)));
    char size[17];
    std::snprintf(size, sizeof size, "%zx", chunk.size());
    wire += std::string(size) + ";chunk-signature=" + previous + "\r\n";
    if (!chunk.empty()) wire += chunk + "\r\n";
  }
  if (trailer.empty()) return wire + "\r\n";
  const std::string signature = base::hex(
      base::hmac_sha256(key, "AWS4-HMAC-SHA256-TRAILER\n" + claim.amz_date + "\n" + scope + "\n" +
                                 previous + "\n" + base::sha256_hex(trailer + "\n")));
  return wire + trailer + "\r\nx-amz-trailer-signature:" + signature + "\r\n\r\n";
}

TEST(Payload, SignedTrailersAreChecked) {
  Setting setting = aws_example();
  setting.form = PayloadForm::chunked_signed_trailer;
  setting.trailer = "x-amz-checksum-crc32c";
  setting.decoded_length = "5";
  const std::string wire =
      signed_wire(setting, {"abc", "de", ""}, "x-amz-checksum-crc32c:sOO8/Q==");
  EXPECT_EQ(read(setting, wire).body, "abcde");
  EXPECT_EQ(read(setting, base::replace_all(wire, "sOO8", "sOO9")).error, "SignatureDoesNotMatch");
  const auto cut = wire.substr(0, wire.find("x-amz-trailer-signature"));
  EXPECT_EQ(read(setting, cut).error, "SignatureDoesNotMatch");
}

TEST(Payload, RandomChunksComeBackWhole) {
  base::SeededRandom random(99);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> chunks;
    std::string whole;
    for (std::uint64_t i = random.below(5); i > 0; --i) {
      chunks.push_back(random.bytes(1 + random.below(3000)));
      whole += chunks.back();
    }
    chunks.push_back("");
    Setting setting = aws_example();
    setting.decoded_length = std::to_string(whole.size());
    const auto seen = read(setting, signed_wire(setting, chunks, ""), 1 + random.below(500));
    EXPECT_EQ(seen.error, "") << "round " << round;
    EXPECT_EQ(seen.body, whole) << "round " << round;
  }
}

}  // namespace
}  // namespace meridian::aws
