// SPDX-License-Identifier: Apache-2.0
#include "aws/sigv2.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/digest.h"
#include "base/strings.h"

namespace meridian::aws {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Parameters that name a part of the resource, and so are signed.
constexpr std::array signed_parameters{std::string_view("accelerate"),
                                       std::string_view("acl"),
                                       std::string_view("analytics"),
                                       std::string_view("cors"),
                                       std::string_view("defaultObjectAcl"),
                                       std::string_view("delete"),
                                       std::string_view("inventory"),
                                       std::string_view("lifecycle"),
                                       std::string_view("location"),
                                       std::string_view("logging"),
                                       std::string_view("metrics"),
                                       std::string_view("notification"),
                                       std::string_view("object-lock"),
                                       std::string_view("partNumber"),
                                       std::string_view("policy"),
                                       std::string_view("replication"),
                                       std::string_view("requestPayment"),
                                       std::string_view("response-cache-control"),
                                       std::string_view("response-content-disposition"),
                                       std::string_view("response-content-encoding"),
                                       std::string_view("response-content-language"),
                                       std::string_view("response-content-type"),
                                       std::string_view("response-expires"),
                                       std::string_view("restore"),
                                       std::string_view("select"),
                                       std::string_view("select-type"),
                                       std::string_view("storageClass"),
                                       std::string_view("tagging"),
                                       std::string_view("torrent"),
                                       std::string_view("uploadId"),
                                       std::string_view("uploads"),
                                       std::string_view("versionId"),
                                       std::string_view("versioning"),
                                       std::string_view("versions"),
                                       std::string_view("website")};

// x-amz- headers, also those that a presigned URL carries as parameters.
std::string amz_headers(const net::Request& request, const Pairs& query) {
  std::map<std::string, std::string> values;
  const auto take = [&](std::string_view field, const std::string& value) {
    const std::string name = base::to_lower(field);
    if (!name.starts_with("x-amz-")) return;
    auto& all = values[name];
    all += (all.empty() ? "" : ",") + std::string(base::trim(value));
  };
  for (const auto& [name, value] : request.headers.fields()) take(name, value);
  for (const auto& [name, value] : query) take(name, value);
  std::string out;
  for (const auto& [name, value] : values) out += name + ":" + value + "\n";
  return out;
}

std::string signed_query(const Pairs& query, std::string_view also) {
  Pairs kept;
  for (const auto& pair : query) {
    const auto& all = signed_parameters;
    if (pair.first == also || std::find(all.begin(), all.end(), pair.first) != all.end()) {
      kept.push_back(pair);
    }
  }
  std::sort(kept.begin(), kept.end());
  std::string out;
  for (const auto& [name, value] : kept) {
    out += (out.empty() ? "?" : "&") + name + (value.empty() ? "" : "=" + value);
  }
  return out;
}

std::string header_or_parameter(const net::Request& request, const Pairs& query,
                                std::string_view name) {
  if (auto header = request.headers.find(name)) return *header;
  for (const auto& [key, value] : query) {
    if (base::equals_ignoring_case(key, name)) return value;
  }
  return "";
}

// Host is not signed in SigV2, so there must be one reading of it, the one of s3::bucket_of_host: a
// name below localhost or before "s3." is a bucket; anything else is path style.
std::string resource_of(const net::Request& request) {
  const std::string authority = request.headers.get("host");
  const std::string_view host = std::string_view(authority).substr(0, authority.rfind(':'));
  for (const std::string_view mark : {".s3.", ".s3-"}) {
    if (const auto at = host.find(mark); at != host.npos && at > 0) {
      return "/" + std::string(host.substr(0, at)) + request.path;
    }
  }
  constexpr std::string_view local = ".localhost";
  if (host.size() <= local.size() || !host.ends_with(local) || host == "s3.localhost") {
    return request.path;
  }
  return "/" + std::string(host.substr(0, host.size() - local.size())) + request.path;
}

// What a client may have signed for this request. Of a bucket, botocore signs "/bucket/" where it
// sends "/bucket", but "/bucket?list-type=2" for that listing, although list-type is no
// sub-resource.
std::vector<std::string> signed_resources(const net::Request& request, const Pairs& query) {
  const std::string path = resource_of(request);
  std::vector<std::string> forms{path + signed_query(query, ""),
                                 path + signed_query(query, "list-type")};
  if (path.rfind('/') == 0) forms.push_back(path + "/" + signed_query(query, ""));
  return forms;
}

}  // namespace

void verify_v2(Verification& out, const AuthClaim& claim, const net::Request& request,
               std::string_view secret) {
  const auto query = net::parse_query(request.query);
  out.payload = PayloadForm::unsigned_payload;
  const std::string head =
      request.method + "\n" + header_or_parameter(request, query, "content-md5") + "\n" +
      header_or_parameter(request, query, "content-type") + "\n" +
      std::to_string(claim.expires_seconds) + "\n" + amz_headers(request, query);
  const auto resources = signed_resources(request, query);
  out.string_to_sign = head + resources.front();
  for (const std::string& resource : resources) {
    const std::string expected = base::base64(base::hmac_sha1(secret, head + resource));
    if (base::equal_in_constant_time(expected, claim.signature)) out.verdict = Verdict::good;
  }
}

}  // namespace meridian::aws
