// Signature Version 4: signing and verifying; and the SigV2 query form that boto3 still presigns S3
// with.
//
// Source: "Signature Version 4 signing process" and "Authenticating Requests (AWS SigV4)" in the
// AWS General Reference and the S3 API reference. libcurl's signer is the oracle of the tests.
//
// Pure, but for the clock given. Derived signing keys are cached. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "net/client.h"
#include "net/http.h"

namespace meridian::aws {

struct Credentials {
  std::string access_key_id, secret, session_token;
};

// What a request says about its signature, before anything is verified.
struct AuthClaim {
  enum class Form { none, header_v4, query_v4, query_v2 } form = Form::none;
  std::string access_key_id, date, region, service;  // service and region are empty for SigV2
  std::vector<std::string> signed_headers;
  std::string signature;
  std::string session_token;
  std::string amz_date;              // 20260131T120000Z
  std::int64_t expires_seconds = 0;  // presigned forms
};

// error: the claim is malformed (text fit for a client).
base::Result<AuthClaim> parse_claim(const net::Request& request);

enum class Verdict { good, bad_signature, expired, skewed, unsigned_header };

// How the body is protected, from x-amz-content-sha256.
enum class PayloadForm {
  signed_hash,
  unsigned_payload,
  chunked_signed,
  chunked_signed_trailer,
  chunked_unsigned_trailer
};

struct Verification {
  Verdict verdict = Verdict::bad_signature;
  PayloadForm payload = PayloadForm::unsigned_payload;
  std::string expected_sha256;                    // hex, for signed_hash
  std::string seed_signature;                     // for the chunked forms
  std::string canonical_request, string_to_sign;  // for SignatureDoesNotMatch answers
  std::string unsigned_name;                      // for unsigned_header: which one
};

// Verifies head and query with `secret`; allowed skew is 15 minutes. Clients of services other than
// S3 sign the body's hash without sending it: `body_sha256` (hex) is then that hash, computed by
// the caller who has read the body; a hash in the request's own header comes first.
Verification verify(const AuthClaim& claim, const net::Request& request, std::string_view secret,
                    base::Timestamp now, std::string_view body_sha256 = {});

// The body behind that verification: decodes aws-chunked, checks chunk signatures, the payload hash
// and Content-Length/decoded length. read() throws Error(data_loss) with AWS's code name in front
// ("XAmzContentSHA256Mismatch: …", "SignatureDoesNotMatch: …", "IncompleteBody: …").
class PayloadReader final : public net::BodyReader {
 public:
  PayloadReader(net::BodyReader& inner, const net::Request& request, const AuthClaim& claim,
                const Verification& verification, std::string_view secret);
  ~PayloadReader() override;
  std::size_t read(char* buffer, std::size_t size) override;
  std::optional<std::uint64_t> length() const override;  // decoded length when announced
  const net::Headers& trailers() const;                  // after the end; names in lower case

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Adds Host-independent signing headers (x-amz-date, x-amz-content-sha256, Authorization, token).
void sign(net::ClientRequest& request, const Credentials& credentials, std::string_view region,
          std::string_view service, base::Timestamp now);
// A presigned SigV4 URL.
std::string presign(std::string_view method, std::string_view url, const Credentials& credentials,
                    std::string_view region, std::string_view service, base::Timestamp now,
                    base::Duration lifetime);

}  // namespace meridian::aws
