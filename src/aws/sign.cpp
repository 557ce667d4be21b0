// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aws/canonical.h"
#include "aws/sigv4.h"
#include "base/digest.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

struct Url {
  std::string scheme, host, path, query;  // host with port, unless it is the scheme's own
};

Url parse_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == text.npos) {
    throw base::Error(base::Code::invalid_argument, "not a URL: '" + std::string(text) + "'");
  }
  Url url{.scheme = std::string(text.substr(0, colon)), .host = {}, .path = {}, .query = {}};
  auto rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const auto question = rest.find('?');
  if (question != rest.npos) url.query = rest.substr(question + 1);
  rest = rest.substr(0, question);
  const auto slash = rest.find('/');
  url.path = slash == rest.npos ? "/" : rest.substr(slash);
  url.host = rest.substr(0, slash);
  const std::string_view own_port = url.scheme == "https" ? ":443" : ":80";
  if (url.host.ends_with(own_port)) url.host.resize(url.host.size() - own_port.size());
  return url;
}

// Fields that proxies and HTTP clients change on the way.
bool may_be_signed(std::string_view lower_name) {
  for (const std::string_view name : {"authorization", "connection", "expect", "user-agent",
                                      "transfer-encoding", "x-amzn-trace-id", "accept"}) {
    if (lower_name == name) return false;
  }
  return true;
}

std::vector<std::string> names_to_sign(const net::Headers& headers) {
  std::vector<std::string> names;
  for (const auto& [field, value] : headers.fields()) {
    if (auto name = base::to_lower(field); may_be_signed(name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

struct Scope {
  std::string_view region, service;
  std::string amz_date, date, text;
};

Scope make_scope(std::string_view region, std::string_view service, base::Timestamp now) {
  Scope scope{region, service, base::format_amz_date(now), {}, {}};
  scope.date = scope.amz_date.substr(0, 8);
  scope.text = scope.date + "/" + std::string(region) + "/" + std::string(service);
  scope.text += "/aws4_request";
  return scope;
}

std::string signature(const Scope& scope, std::string_view secret, const std::string& canonical) {
  const auto key = signing_key(secret, scope.date, scope.region, scope.service);
  const auto text = v4_string_to_sign(scope.amz_date, scope.text, canonical);
  return base::hex(base::hmac_sha256(key, text));
}

}  // namespace

void sign(net::ClientRequest& request, const Credentials& credentials, std::string_view region,
          std::string_view service, base::Timestamp now) {
  const Url url = parse_url(request.url);
  const Scope scope = make_scope(region, service, now);
  auto& headers = request.headers;
  headers.remove("authorization");
  headers.set("x-amz-date", scope.amz_date);
  if (!credentials.session_token.empty()) {
    headers.set("x-amz-security-token", credentials.session_token);
  }
  if (!headers.find("x-amz-content-sha256")) {
    headers.set("x-amz-content-sha256",
                request.stream ? "UNSIGNED-PAYLOAD" : base::sha256_hex(request.body));
  }
  net::Headers signed_fields = headers;
  if (!signed_fields.find("host")) signed_fields.add("host", url.host);
  const auto names = names_to_sign(signed_fields);
  const std::string name_list = base::join(names, ";");
  const std::string canonical = request.method + "\n" +
                                canonical_uri(url.path, service, CanonicalForm::as_sent) + "\n" +
                                canonical_query(url.query, CanonicalForm::as_sent) + "\n" +
                                canonical_headers(signed_fields, names) + "\n" + name_list + "\n" +
                                headers.get("x-amz-content-sha256");
  headers.set("authorization", "AWS4-HMAC-SHA256 Credential=" + credentials.access_key_id + "/" +
                                   scope.text + ", SignedHeaders=" + name_list + ", Signature=" +
                                   signature(scope, credentials.secret, canonical));
}

std::string presign(std::string_view method, std::string_view url_text,
                    const Credentials& credentials, std::string_view region,
                    std::string_view service, base::Timestamp now, base::Duration lifetime) {
  const Url url = parse_url(url_text);
  const Scope scope = make_scope(region, service, now);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(lifetime).count();
  std::string query = url.query + (url.query.empty() ? "" : "&");
  query += "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" +
           base::percent_encode(credentials.access_key_id + "/" + scope.text) +
           "&X-Amz-Date=" + scope.amz_date + "&X-Amz-Expires=" + std::to_string(seconds) +
           "&X-Amz-SignedHeaders=host";
  if (!credentials.session_token.empty()) {
    query += "&X-Amz-Security-Token=" + base::percent_encode(credentials.session_token);
  }
  const std::string canonical =
      std::string(method) + "\n" + canonical_uri(url.path, service, CanonicalForm::as_sent) + "\n" +
      canonical_query(query, CanonicalForm::as_sent) + "\nhost:" + url.host + "\n\nhost\n" +
      (service == "s3" ? "UNSIGNED-PAYLOAD" : std::string(empty_sha256));
  return url.scheme + "://" + url.host + url.path + "?" + query +
         "&X-Amz-Signature=" + signature(scope, credentials.secret, canonical);
}

}  // namespace meridian::aws
