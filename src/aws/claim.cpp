// SPDX-License-Identifier: Apache-2.0
//
// What a request says about its signature: the Authorization header and the two presigned forms.
#include <algorithm>

#include "aws/sigv4.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using Claim = base::Result<AuthClaim>;

base::ParseError bad(std::string message) { return {std::move(message)}; }

std::string shown(std::string_view text) {
  return "'" + base::to_valid_utf8(base::utf8_prefix(text, 128)) + "'";
}

bool is_key_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
}

// AKID/20260131/us-west-2/s3/aws4_request. Empty = fine, else why not.
std::string take_scope(AuthClaim& claim, std::string_view credential) {
  auto parts = base::split(credential, '/');
  if (parts.size() != 5 || !is_key_id(parts[0]) || parts[4] != "aws4_request") {
    return "the Credential is mal-formed; expecting KEY/YYYYMMDD/REGION/SERVICE/aws4_request, "
           "got " +
           shown(credential);
  }
  claim.access_key_id = parts[0];
  claim.date = parts[1];
  claim.region = parts[2];
  claim.service = parts[3];
  const bool digits = std::all_of(claim.date.begin(), claim.date.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  if (claim.date.size() != 8 || !digits) {
    return "the date in the Credential must be YYYYMMDD, got " + shown(claim.date);
  }
  return "";
}

std::string take_signed_headers(AuthClaim& claim, std::string_view list) {
  for (auto& name : base::split(list, ';')) {
    if (name.empty() || name != base::to_lower(name)) {
      return "SignedHeaders must be lower-case names separated by ';', got " + shown(list);
    }
    claim.signed_headers.push_back(std::move(name));
  }
  if (claim.signed_headers.size() > 128) return "SignedHeaders names more than 128 headers";
  return "";
}

std::string take_date(AuthClaim& claim, std::string_view amz_date) {
  const auto parsed = base::parse_iso8601(amz_date);
  if (amz_date.size() != 16 || !parsed) {
    return "X-Amz-Date must have the form YYYYMMDDTHHMMSSZ, got " + shown(amz_date);
  }
  claim.amz_date = amz_date;
  if (!claim.amz_date.starts_with(claim.date)) {
    return "the date in the Credential, " + shown(claim.date) + ", is not that of the request, " +
           shown(amz_date);
  }
  return "";
}

std::string check_signature(const AuthClaim& claim) {
  const bool hex = std::all_of(claim.signature.begin(), claim.signature.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (claim.signature.size() == 64 && hex) return "";
  return "the Signature must be 64 lower-case hexadecimal digits";
}

// The time of a header-signed request: X-Amz-Date, else Date in either of its forms.
std::string header_date(const net::Request& request) {
  if (auto date = request.headers.find("x-amz-date")) return *date;
  const auto date = request.headers.get("date");
  if (const auto http = base::parse_http_date(date)) return base::format_amz_date(*http);
  return date;
}

Claim parse_header(const net::Request& request, std::string_view authorization) {
  constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";
  if (!authorization.starts_with(algorithm)) {
    const auto scheme = authorization.substr(0, authorization.find(' '));
    return bad("unsupported Authorization type " + shown(scheme) + "; AWS4-HMAC-SHA256 is served");
  }
  AuthClaim claim{.form = AuthClaim::Form::header_v4};
  std::string credential, signed_headers;
  for (const auto& piece : base::split(authorization.substr(algorithm.size()), ',')) {
    const std::string_view part = base::trim(piece);
    const auto equals = part.find('=');
    const auto key = part.substr(0, equals);
    const auto value = equals == part.npos ? std::string_view() : part.substr(equals + 1);
    if (key == "Credential") credential = value;
    if (key == "SignedHeaders") signed_headers = value;
    if (key == "Signature") claim.signature = value;
  }
  for (const auto& [name, value] :
       {std::pair<std::string_view, std::string>{"Credential", credential},
        {"SignedHeaders", signed_headers},
        {"Signature", claim.signature}}) {
    if (value.empty()) {
      return bad("Authorization header requires '" + std::string(name) + "' parameter");
    }
  }
  claim.session_token = request.headers.get("x-amz-security-token");
  for (const auto& why : {take_scope(claim, credential), take_signed_headers(claim, signed_headers),
                          check_signature(claim), take_date(claim, header_date(request))}) {
    if (!why.empty()) return bad(why);
  }
  return claim;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string find(const Pairs& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return value;
  }
  return "";
}

Claim parse_query_v4(const Pairs& query) {
  if (find(query, "X-Amz-Algorithm") != "AWS4-HMAC-SHA256") {
    return bad("X-Amz-Algorithm must be AWS4-HMAC-SHA256, got " +
               shown(find(query, "X-Amz-Algorithm")));
  }
  AuthClaim claim{.form = AuthClaim::Form::query_v4};
  claim.signature = find(query, "X-Amz-Signature");
  claim.session_token = find(query, "X-Amz-Security-Token");
  const auto expires = base::to_int(find(query, "X-Amz-Expires"));
  if (!expires || *expires < 1 || *expires > 604'800) {
    return bad("X-Amz-Expires must be a number of seconds from 1 to 604800, got " +
               shown(find(query, "X-Amz-Expires")));
  }
  claim.expires_seconds = *expires;
  for (const auto& why : {take_scope(claim, find(query, "X-Amz-Credential")),
                          take_signed_headers(claim, find(query, "X-Amz-SignedHeaders")),
                          check_signature(claim), take_date(claim, find(query, "X-Amz-Date"))}) {
    if (!why.empty()) return bad(why);
  }
  return claim;
}

Claim parse_query_v2(const Pairs& query) {
  AuthClaim claim{.form = AuthClaim::Form::query_v2};
  claim.access_key_id = find(query, "AWSAccessKeyId");
  claim.signature = find(query, "Signature");
  claim.session_token = find(query, "x-amz-security-token");
  const auto expires = base::to_int(find(query, "Expires"));
  if (!expires || *expires < 0 || *expires > 1'000'000'000'000) {
    return bad("Expires must be a time in seconds since 1970, got " +
               shown(find(query, "Expires")));
  }
  claim.expires_seconds = *expires;
  if (claim.signature.empty() || !is_key_id(claim.access_key_id)) {
    return bad("a presigned URL needs AWSAccessKeyId, Signature and Expires");
  }
  return claim;
}

bool known_payload(std::string_view text) {
  if (text == "UNSIGNED-PAYLOAD" || text == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" ||
      text == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER" ||
      text == "STREAMING-UNSIGNED-PAYLOAD-TRAILER") {
    return true;
  }
  return text.size() == 64 && base::unhex(text).has_value();
}

}  // namespace

base::Result<AuthClaim> parse_claim(const net::Request& request) {
  const auto authorization = request.headers.find("authorization");
  const auto query = net::parse_query(request.query);
  const auto has = [&](std::string_view name) {
    return std::any_of(query.begin(), query.end(), [&](auto& pair) { return pair.first == name; });
  };
  const bool v4 = has("X-Amz-Algorithm") || has("X-Amz-Signature") || has("X-Amz-Credential");
  const bool v2 = has("AWSAccessKeyId") && has("Signature");
  if (int{authorization.has_value()} + int{v4} + int{v2} > 1) {
    return bad(
        "only one authentication mechanism is allowed: the Authorization header, or the "
        "parameters of a presigned URL");
  }
  if (const auto hash = request.headers.find("x-amz-content-sha256");
      hash && !known_payload(*hash)) {
    return bad(
        "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, "
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER or "
        "a SHA-256 in hexadecimal, got " +
        shown(*hash));
  }
  if (authorization) return parse_header(request, *authorization);
  if (v4) return parse_query_v4(query);
  if (v2) return parse_query_v2(query);
  return AuthClaim{};
}

}  // namespace meridian::aws
