// SPDX-License-Identifier: Apache-2.0
#include "aws/sigv4.h"

#include <algorithm>
#include <map>

#include "aws/canonical.h"
#include "aws/sigv2.h"
#include "base/digest.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

constexpr base::Duration allowed_skew = std::chrono::minutes(15);

std::string scope_of(const AuthClaim& claim) {
  return claim.date + "/" + claim.region + "/" + claim.service + "/aws4_request";
}

PayloadForm payload_form(std::string_view hash) {
  if (hash == "UNSIGNED-PAYLOAD") return PayloadForm::unsigned_payload;
  if (hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD") return PayloadForm::chunked_signed;
  if (hash == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER") {
    return PayloadForm::chunked_signed_trailer;
  }
  if (hash == "STREAMING-UNSIGNED-PAYLOAD-TRAILER") return PayloadForm::chunked_unsigned_trailer;
  return PayloadForm::signed_hash;
}

// What stands in the canonical request for the body.
std::string payload_hash(const AuthClaim& claim, const net::Request& request,
                         std::string_view body_sha256) {
  if (auto header = request.headers.find("x-amz-content-sha256")) return *header;
  if (claim.form == AuthClaim::Form::query_v4 && claim.service == "s3") return "UNSIGNED-PAYLOAD";
  return std::string(body_sha256.empty() ? empty_sha256 : body_sha256);
}

// Every x-amz- header changes what a request means, so it must be signed; its own hash is in the
// canonical request anyway.
std::string find_unsigned_header(const AuthClaim& claim, const net::Request& request) {
  const auto is_signed = [&](const std::string& name) {
    return std::find(claim.signed_headers.begin(), claim.signed_headers.end(), name) !=
           claim.signed_headers.end();
  };
  if (!is_signed("host")) return "host";
  for (const auto& [field, value] : request.headers.fields()) {
    const std::string name = base::to_lower(field);
    if (!name.starts_with("x-amz-") || name == "x-amz-content-sha256") continue;
    if (!is_signed(name)) return name;
  }
  return "";
}

Verdict time_verdict(const AuthClaim& claim, base::Timestamp now) {
  if (claim.form == AuthClaim::Form::query_v2) {
    return now.ms > claim.expires_seconds * 1000 ? Verdict::expired : Verdict::good;
  }
  const auto signed_at = base::parse_iso8601(claim.amz_date);
  if (!signed_at) return Verdict::bad_signature;
  if (*signed_at - now > allowed_skew) return Verdict::skewed;
  if (claim.form == AuthClaim::Form::header_v4) {
    return now - *signed_at > allowed_skew ? Verdict::skewed : Verdict::good;
  }
  const auto end = *signed_at + std::chrono::seconds(claim.expires_seconds);
  return now > end ? Verdict::expired : Verdict::good;
}

void verify_v4(Verification& out, const AuthClaim& claim, const net::Request& request,
               std::string_view secret, const std::string& hash) {
  const std::string key = signing_key(secret, claim.date, claim.region, claim.service);
  const std::string headers = canonical_headers(request.headers, claim.signed_headers);
  for (const auto form : {CanonicalForm::as_sent, CanonicalForm::normalized}) {
    std::string canonical = request.method + "\n" +
                            canonical_uri(request.path, claim.service, form) + "\n" +
                            canonical_query(request.query, form) + "\n" + headers + "\n" +
                            base::join(claim.signed_headers, ";") + "\n" + hash;
    if (canonical == out.canonical_request) return;
    out.canonical_request = std::move(canonical);
    out.string_to_sign = v4_string_to_sign(claim.amz_date, scope_of(claim), out.canonical_request);
    const std::string expected = base::hex(base::hmac_sha256(key, out.string_to_sign));
    if (base::equal_in_constant_time(expected, claim.signature)) {
      out.verdict = Verdict::good;
      return;
    }
  }
}

}  // namespace

Verification verify(const AuthClaim& claim, const net::Request& request, std::string_view secret,
                    base::Timestamp now, std::string_view body_sha256) {
  Verification out;
  if (const auto when = time_verdict(claim, now); when != Verdict::good) {
    out.verdict = when;
    return out;
  }
  if (claim.form == AuthClaim::Form::query_v2) {
    verify_v2(out, claim, request, secret);
    return out;
  }
  out.unsigned_name = find_unsigned_header(claim, request);
  if (!out.unsigned_name.empty()) {
    out.verdict = Verdict::unsigned_header;
    return out;
  }
  const std::string hash = payload_hash(claim, request, body_sha256);
  out.payload = payload_form(hash);
  if (out.payload == PayloadForm::signed_hash) out.expected_sha256 = hash;
  out.seed_signature = claim.signature;
  verify_v4(out, claim, request, secret, hash);
  return out;
}

}  // namespace meridian::aws
