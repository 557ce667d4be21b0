// SPDX-License-Identifier: Apache-2.0
#include "aws/sigv4.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using base::Json;

constexpr std::string_view secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const base::Timestamp noon = *base::parse_iso8601("2026-01-31T12:00:00Z");

// A request as a server sees it, with its body.
struct Sent {
  net::Request request;
  std::string body;
};

Sent recorded(const Json& entry) {
  Sent out;
  out.request.method = base::string_or(entry, "method");
  out.request.path = base::string_or(entry, "path");
  out.request.query = base::string_or(entry, "query");
  for (const Json& field : entry.at("headers").as_array()) {
    out.request.headers.add(std::string(field.at(0).as_string()),
                            std::string(field.at(1).as_string()));
  }
  out.body = base::string_or(entry, "body");
  return out;
}

// What the HTTP client would send for a signed request.
Sent arrived(const net::ClientRequest& client) {
  Sent out;
  out.request.method = client.method;
  out.request.headers = client.headers;
  const auto start = client.url.find('/', client.url.find("://") + 3);
  const auto host = client.url.substr(0, start).substr(client.url.find("://") + 3);
  if (!client.headers.find("host")) out.request.headers.add("Host", host);
  const std::string target = client.url.substr(start);
  out.request.path = target.substr(0, target.find('?'));
  if (target.find('?') != std::string::npos)
    out.request.query = target.substr(target.find('?') + 1);
  out.body = client.body;
  return out;
}

Verdict verdict(const Sent& sent, std::string_view key = secret, base::Timestamp now = noon) {
  const auto claim = parse_claim(sent.request);
  if (!claim) return Verdict::bad_signature;
  return verify(*claim, sent.request, key, now, base::sha256_hex(sent.body)).verdict;
}

Json recorded_cases() {
  return base::parse_stored_json(
      base::read_file(MERIDIAN_SOURCE_DIR "/src/aws/testdata/sigv4.json"), "sigv4.json");
}

TEST(SigV4, AcceptsWhatBotocoreSigns) {
  const Json data = recorded_cases();
  for (const Json& entry : data.at("cases").as_array()) {
    const Sent sent = recorded(entry);
    const auto claim = parse_claim(sent.request);
    ASSERT_TRUE(claim) << entry.at("name") << ": " << claim.error().message;
    const auto seen = verify(*claim, sent.request, secret, noon, base::sha256_hex(sent.body));
    EXPECT_EQ(seen.verdict, Verdict::good) << entry.at("name") << "\n"
                                           << seen.canonical_request << "\n"
                                           << seen.string_to_sign;
  }
  EXPECT_GE(data.at("cases").as_array().size(), 20u);
}

TEST(SigV4, RefusesWhatBotocoreSignsWithAnotherSecret) {
  const Json data = recorded_cases();
  for (const Json& entry : data.at("cases").as_array()) {
    EXPECT_EQ(verdict(recorded(entry), "another"), Verdict::bad_signature) << entry.at("name");
  }
}

TEST(SigV4, RefusesRecordedRequestsWithAnotherPathMethodOrParameter) {
  const Json data = recorded_cases();
  for (const Json& entry : data.at("cases").as_array()) {
    Sent path = recorded(entry), method = recorded(entry), query = recorded(entry);
    path.request.path += "x";
    method.request.method = "DELETE";
    query.request.query += query.request.query.empty() ? "acl=" : "&acl=";
    EXPECT_NE(verdict(path), Verdict::good) << entry.at("name");
    EXPECT_NE(verdict(method), Verdict::good) << entry.at("name");
    EXPECT_NE(verdict(query), Verdict::good) << entry.at("name");
  }
}

net::ClientRequest random_request(base::Random& random) {
  const auto text = [&](std::size_t most) { return random.bytes(random.below(most + 1)); };
  net::ClientRequest out;
  out.method = random.below(2) ? "PUT" : "GET";
  out.url = "http://127.0.0.1:8470";
  for (std::uint64_t i = random.below(4) + 1; i > 0; --i) {
    out.url += "/" + base::percent_encode(text(12));
  }
  for (std::uint64_t i = random.below(4); i > 0; --i) {
    out.url += out.url.find('?') == std::string::npos ? "?" : "&";
    out.url += base::percent_encode(text(6) + "k") + "=" + base::percent_encode(text(9));
  }
  out.headers.add("x-amz-meta-a", "  " + base::hex(text(4)) + "  " + base::hex(text(4)));
  out.headers.add("content-type", "text/plain");
  out.body = text(64);
  return out;
}

TEST(SigV4, WhatIsSignedVerifiesWhateverItHolds) {
  base::SeededRandom random(20260131);
  for (int round = 0; round < 300; ++round) {
    auto request = random_request(random);
    const std::string service = random.below(2) ? "s3" : "batch";
    const Credentials keys{"AKIDEXAMPLE", std::string(secret), random.below(2) ? "token=" : ""};
    sign(request, keys, "us-west-2", service, noon);
    EXPECT_EQ(verdict(arrived(request)), Verdict::good) << "round " << round << " " << request.url;
  }
}

TEST(SigV4, AChangedByteAnywhereInTheSignedHeadIsRefused) {
  base::SeededRandom random(7);
  for (int round = 0; round < 200; ++round) {
    auto request = random_request(random);
    sign(request, {"AKIDEXAMPLE", std::string(secret), ""}, "us-west-2", "s3", noon);
    Sent sent = arrived(request);
    const auto flip = [&](std::string value) {
      value[random.below(value.size())] ^= static_cast<char>(1 + random.below(15));
      return value;
    };
    const std::string place[] = {"x-amz-date", "x-amz-content-sha256", "authorization", "host",
                                 "content-type"};
    const std::string& name = place[random.below(5)];
    sent.request.headers.set(name, flip(sent.request.headers.get(name)));
    // The key's id is not under the signature: it only says whose secret to verify with.
    const auto claim = parse_claim(sent.request);
    if (claim && claim->access_key_id != "AKIDEXAMPLE") continue;
    EXPECT_NE(verdict(sent), Verdict::good) << "round " << round << ": " << name;
  }
}

TEST(SigV4, AcceptsAFifteenMinuteSkewAndNoMore) {
  net::ClientRequest request{.method = "GET", .url = "http://h/b/k"};
  sign(request, {"AKIDEXAMPLE", std::string(secret), ""}, "r", "s3", noon);
  using std::chrono::minutes;
  const Sent sent = arrived(request);
  EXPECT_EQ(verdict(sent, secret, noon + minutes(15)), Verdict::good);
  EXPECT_EQ(verdict(sent, secret, noon - minutes(15)), Verdict::good);
  EXPECT_EQ(verdict(sent, secret, noon + minutes(16)), Verdict::skewed);
  EXPECT_EQ(verdict(sent, secret, noon - minutes(16)), Verdict::skewed);
}

TEST(SigV4, APresignedUrlEndsWhenItSays) {
  const std::string url = presign("GET", "http://h:1/b/a%20b?versionId=3",
                                  {"AKIDEXAMPLE", std::string(secret), "to/ken"}, "r", "s3", noon,
                                  std::chrono::minutes(5));
  const Sent sent = arrived({.method = "GET", .url = url});
  EXPECT_EQ(verdict(sent, secret, noon + std::chrono::minutes(5)), Verdict::good);
  EXPECT_EQ(verdict(sent, secret, noon + std::chrono::seconds(301)), Verdict::expired);
  EXPECT_EQ(verdict(sent, secret, noon - std::chrono::minutes(20)), Verdict::skewed);
  EXPECT_EQ(parse_claim(sent.request)->session_token, "to/ken");
}

TEST(SigV4, ASigV2UrlEndsWhenItSays) {
  const Json data = recorded_cases();
  for (const Json& entry : data.at("cases").as_array()) {
    const Sent sent = recorded(entry);
    if (parse_claim(sent.request)->form != AuthClaim::Form::query_v2) continue;
    EXPECT_EQ(verdict(sent, secret, noon + std::chrono::seconds(900)), Verdict::good);
    EXPECT_EQ(verdict(sent, secret, noon + std::chrono::seconds(901)), Verdict::expired);
  }
}

TEST(SigV4, EveryAmzHeaderMustBeSigned) {
  net::ClientRequest request{.method = "GET", .url = "http://h/b/k"};
  sign(request, {"AKIDEXAMPLE", std::string(secret), ""}, "r", "s3", noon);
  Sent sent = arrived(request);
  sent.request.headers.add("X-Amz-Copy-Source", "/other/key");
  const auto claim = parse_claim(sent.request);
  const auto seen = verify(*claim, sent.request, secret, noon);
  EXPECT_EQ(seen.verdict, Verdict::unsigned_header);
  EXPECT_EQ(seen.unsigned_name, "x-amz-copy-source");
}

TEST(SigV4, ADecodedPathIsTheSamePath) {
  // Signed by a client that encodes '*', sent by one that does not.
  net::ClientRequest request{.method = "GET", .url = "http://h/b/a%2Ab"};
  sign(request, {"AKIDEXAMPLE", std::string(secret), ""}, "r", "s3", noon);
  Sent sent = arrived(request);
  sent.request.path = "/b/a*b";
  EXPECT_EQ(verdict(sent), Verdict::good);
}

net::Request with_header(const std::string& name, const std::string& value) {
  net::Request request;
  request.headers.add(name, value);
  return request;
}

TEST(AuthClaim, OfAnUnsignedRequestIsNone) {
  EXPECT_EQ(parse_claim(net::Request{})->form, AuthClaim::Form::none);
}

TEST(AuthClaim, SaysWhatIsWrongWithIt) {
  const std::string good_scope = "Credential=AKID/20260131/r/s3/aws4_request";
  const std::string signature = std::string(64, 'a');
  const std::pair<std::string, std::string> cases[] = {
      {"Bearer x", "unsupported Authorization type 'Bearer'"},
      {"AWS AKID:sig", "unsupported Authorization type 'AWS'"},
      {"AWS4-HMAC-SHA256 " + good_scope + ", Signature=" + signature, "'SignedHeaders'"},
      {"AWS4-HMAC-SHA256 " + good_scope + ", SignedHeaders=host", "'Signature'"},
      {"AWS4-HMAC-SHA256 Credential=AKID/r/s3, SignedHeaders=host, Signature=" + signature,
       "the Credential is mal-formed"},
      {"AWS4-HMAC-SHA256 Credential=A<D/20260131/r/s3/aws4_request, SignedHeaders=host, "
       "Signature=" +
           signature,
       "the Credential is mal-formed"},
      {"AWS4-HMAC-SHA256 " + good_scope + ", SignedHeaders=Host, Signature=" + signature,
       "SignedHeaders must be lower-case"},
      {"AWS4-HMAC-SHA256 " + good_scope + ", SignedHeaders=host, Signature=zz",
       "64 lower-case hexadecimal digits"},
      {"AWS4-HMAC-SHA256 " + good_scope + ", SignedHeaders=host, Signature=" + signature,
       "X-Amz-Date must have the form"},
  };
  for (const auto& [header, expected] : cases) {
    const auto claim = parse_claim(with_header("Authorization", header));
    ASSERT_FALSE(claim) << header;
    EXPECT_NE(claim.error().message.find(expected), std::string::npos) << claim.error().message;
  }
}

TEST(AuthClaim, TakesTheDateHeaderWhereThereIsNoOther) {
  net::Request request = with_header("Authorization",
                                     "AWS4-HMAC-SHA256 Credential=AKID/20260131/r/s3/aws4_request,"
                                     "SignedHeaders=date;host,Signature=" +
                                         std::string(64, 'a'));
  request.headers.add("Date", "Sat, 31 Jan 2026 12:00:00 GMT");
  EXPECT_EQ(parse_claim(request)->amz_date, "20260131T120000Z");
}

TEST(AuthClaim, TwoMechanismsAtOnceAreRefused) {
  net::Request request = with_header("Authorization", "AWS4-HMAC-SHA256 x");
  request.query = "X-Amz-Signature=a";
  ASSERT_FALSE(parse_claim(request));
  EXPECT_NE(parse_claim(request).error().message.find("only one"), std::string::npos);
}

TEST(AuthClaim, AnUnknownPayloadHashIsRefused) {
  const auto claim = parse_claim(with_header("x-amz-content-sha256", "STREAMING-AWS4-ECDSA"));
  ASSERT_FALSE(claim);
  EXPECT_NE(claim.error().message.find("x-amz-content-sha256"), std::string::npos);
}

}  // namespace
}  // namespace meridian::aws
