// SPDX-License-Identifier: Apache-2.0
#include "region/front/access.h"

#include <algorithm>

#include "base/digest.h"

namespace meridian::region::front {
namespace {

Refusal wrong_signature(const aws::AuthClaim& claim, const aws::Verification& verification) {
  return {Reason::wrong_signature,
          "The request signature we calculated does not match the signature you provided. Check "
          "your AWS secret access key and signing method.",
          {{"AWSAccessKeyId", claim.access_key_id},
           {"StringToSign", verification.string_to_sign},
           {"SignatureProvided", claim.signature},
           {"CanonicalRequest", verification.canonical_request}}};
}

Refusal skewed(const aws::AuthClaim& claim, base::Timestamp now) {
  const std::string server_time = base::format_amz_date(now);
  return {Reason::skewed_time,
          "Signature not yet current or expired: the request is of " + claim.amz_date +
              ", the server's time is " + server_time +
              "; the difference may be 15 minutes. Check the clock of the client.",
          {{"RequestTime", claim.amz_date}, {"ServerTime", server_time}}};
}

std::optional<Refusal> refusal_of(const aws::AuthClaim& claim,
                                  const aws::Verification& verification, base::Timestamp now) {
  switch (verification.verdict) {
    case aws::Verdict::good: return std::nullopt;
    case aws::Verdict::bad_signature: return wrong_signature(claim, verification);
    case aws::Verdict::expired:
      return Refusal{Reason::expired_request,
                     "Request has expired",
                     {{"ServerTime", base::format_iso8601(now)}}};
    case aws::Verdict::skewed: return skewed(claim, now);
    case aws::Verdict::unsigned_header:
      return Refusal{Reason::unsigned_header,
                     "There were headers present in the request which were not signed: " +
                         verification.unsigned_name,
                     {{"HeadersNotSigned", verification.unsigned_name}}};
  }
  return wrong_signature(claim, verification);
}

bool token_fits(const identity::AccessKey& key, const std::string& token) {
  return key.session_token.size() == token.size() &&
         base::equal_in_constant_time(key.session_token, token);
}

}  // namespace

std::variant<Access, Refusal> authenticate(const identity::Identity& identity,
                                           const aws::AuthClaim& claim, const net::Request& request,
                                           base::Timestamp now, const std::string& body_sha256) {
  auto key = identity.find_key(claim.access_key_id);
  if (!key) {
    return Refusal{Reason::unknown_key,
                   "The security token included in the request is invalid: no access key '" +
                       claim.access_key_id + "' here ('meridian env' prints the keys to use)",
                   {{"AWSAccessKeyId", claim.access_key_id}}};
  }
  if (!token_fits(*key, claim.session_token)) {
    return Refusal{Reason::wrong_token,
                   key->session_token.empty()
                       ? "The security token included in the request is invalid: this access key "
                         "has no session token"
                       : "The security token included in the request is invalid",
                   {}};
  }
  auto verification = aws::verify(claim, request, key->secret, now, body_sha256);
  if (auto refused = refusal_of(claim, verification, now)) return std::move(*refused);
  if (key->expires && *key->expires <= now) {
    return Refusal{
        Reason::expired_token, "The security token included in the request is expired", {}};
  }
  return Access{claim, std::move(verification), std::move(*key)};
}

bool only_reads(std::string_view operation) {
  // AssumeRole gives a key with the caller's own rights, so it changes nothing either.
  for (const std::string_view prefix :
       {"Describe", "Get", "List", "Head", "Search", "Filter", "BatchGet", "AssumeRole"}) {
    if (operation.starts_with(prefix)) return true;
  }
  for (const std::string_view call : {"capacity", "why", "run-record"}) {
    if (operation == call) return true;
  }
  return false;
}

bool open_to_jobs(std::string_view signing_service) {
  for (const std::string_view service : {"s3", "logs", "monitoring", "sagemaker", "batch", "sts"}) {
    if (signing_service == service) return true;
  }
  return false;
}

bool looks_like_s3(const net::Request& request) {
  const auto& headers = request.headers;
  if (headers.find("x-amz-target") || headers.find("smithy-protocol")) return false;
  if (headers.get("content-type").starts_with("application/x-www-form-urlencoded")) return false;
  if (request.query.find("Action=") != std::string::npos) return false;
  for (const std::string_view prefix : {"/_meridian/", "/v1/", "/endpoints/"}) {
    if (request.path.starts_with(prefix)) return false;
  }
  return true;
}

}  // namespace meridian::region::front
