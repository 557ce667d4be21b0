// SPDX-License-Identifier: Apache-2.0
#include "aws/canonical.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "base/strings.h"
#include "base/sync.h"

namespace meridian::aws {
namespace {

// RFC 3986 §5.2.4, and empty segments gone, as AWS's signers do for all services but S3.
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string> kept;
  for (auto& segment : base::split(path, '/')) {
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else {
      kept.push_back(std::move(segment));
    }
  }
  std::string out = "/" + base::join(kept, "/");
  if (!kept.empty() && path.ends_with('/')) out += '/';
  return out;
}

std::string encoded_again(std::string_view text, std::string_view keep) {
  const auto decoded = base::percent_decode(text);
  return decoded ? base::percent_encode(*decoded, keep) : std::string(text);
}

// Outer blanks cut, inner runs of blanks made one.
std::string folded(std::string_view value) {
  std::string out;
  for (const char c : base::trim(value)) {
    if (c == ' ' && !out.empty() && out.back() == ' ') continue;
    out += c;
  }
  return out;
}

}  // namespace

std::string canonical_uri(std::string_view raw_path, std::string_view service, CanonicalForm form) {
  if (raw_path.empty()) return "/";
  const bool again = form == CanonicalForm::normalized;
  if (service == "s3") return again ? encoded_again(raw_path, "/") : std::string(raw_path);
  const std::string path = without_dot_segments(raw_path);
  return base::percent_encode(again ? encoded_again(path, "/") : path, "/");
}

std::string canonical_query(std::string_view raw_query, CanonicalForm form) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& piece : base::split(raw_query, '&')) {
    if (piece.empty()) continue;
    const auto equals = piece.find('=');
    std::string name = piece.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : piece.substr(equals + 1);
    if (name == "X-Amz-Signature") continue;
    if (form == CanonicalForm::normalized) {
      name = encoded_again(name, "");
      value = encoded_again(value, "");
    }
    pairs.emplace_back(std::move(name), std::move(value));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += '&';
    out += name + '=' + value;
  }
  return out;
}

std::string canonical_headers(const net::Headers& headers, const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) {
    out += name + ':';
    bool first = true;
    for (const auto& value : headers.all(name)) {
      if (!first) out += ',';
      first = false;
      out += folded(value);
    }
    out += '\n';
  }
  return out;
}

std::string signing_key(std::string_view secret, std::string_view date, std::string_view region,
                        std::string_view service) {
  static const base::Sync<std::map<std::string, std::string, std::less<>>> cache;
  std::string id(secret);
  for (const auto part : {date, region, service}) id.append("/").append(part);
  {
    auto keys = cache.lock();
    if (const auto found = keys->find(id); found != keys->end()) return found->second;
  }
  std::string key = base::hmac_sha256("AWS4" + std::string(secret), date);
  for (const auto part : {region, service, std::string_view("aws4_request")}) {
    key = base::hmac_sha256(key, part);
  }
  auto keys = cache.lock();
  if (keys->size() >= 4096) keys->clear();  // a new day, or a flood of foreign scopes
  keys->emplace(std::move(id), key);
  return key;
}

std::string v4_string_to_sign(std::string_view amz_date, std::string_view scope,
                              std::string_view canonical_request) {
  std::string out = "AWS4-HMAC-SHA256\n";
  out.append(amz_date).append("\n").append(scope).append("\n");
  return out + base::sha256_hex(canonical_request);
}

}  // namespace meridian::aws
