// SPDX-License-Identifier: Apache-2.0
#include "cli/buckets.h"

#include "base/strings.h"
#include "base/xml.h"

namespace meridian::cli {
namespace {

base::Code code_of(int status) {
  switch (status) {
    case 400: return base::Code::invalid_argument;
    case 401:
    case 403: return base::Code::permission_denied;
    case 404: return base::Code::not_found;
    case 409: return base::Code::failed_precondition;
    case 503: return base::Code::unavailable;
    default: return base::Code::internal;
  }
}

std::string encoded_path(const std::string& bucket, const std::string& key = "") {
  return "/" + base::percent_encode(bucket) + (key.empty() ? "" : "/") +
         base::percent_encode(key, "/");
}

base::Timestamp time_of(const std::string& text) {
  auto time = base::parse_iso8601(text);
  return time ? *time : base::Timestamp{};
}

std::string decoded(const std::string& text) {
  auto plain = base::percent_decode(base::replace_all(text, "+", "%20"));
  return plain ? *plain : text;
}

}  // namespace

base::Result<std::vector<BucketInfo>> parse_bucket_list(std::string_view xml) {
  auto root = base::parse_xml(xml);
  if (!root) return root.error();
  std::vector<BucketInfo> all;
  if (const auto* buckets = root->find("Buckets"))
    for (const auto& entry : buckets->children)
      all.push_back({entry.text_of("Name"), time_of(entry.text_of("CreationDate"))});
  return all;
}

base::Result<FolderPage> parse_folder_page(std::string_view xml) {
  auto root = base::parse_xml(xml);
  if (!root) return root.error();
  FolderPage page;
  for (const auto& entry : root->children) {
    if (entry.name == "CommonPrefixes") page.folders.push_back(decoded(entry.text_of("Prefix")));
    if (entry.name != "Contents") continue;
    page.objects.push_back({.key = decoded(entry.text_of("Key")),
                            .size = base::to_uint(entry.text_of("Size")).value_or(0),
                            .etag = base::replace_all(entry.text_of("ETag"), "\"", ""),
                            .last_modified = time_of(entry.text_of("LastModified"))});
  }
  page.next_token = root->text_of("NextContinuationToken");
  return page;
}

Buckets::Buckets(net::HttpClient& http, const base::Clock& clock, const Installation& installation)
    : http_(http), clock_(clock), installation_(installation) {}

net::Response Buckets::send(net::ClientRequest request, std::string_view service) {
  request.url = installation_.endpoint + request.url;
  aws::sign(request, installation_.credentials, installation_.region, service, clock_.now());
  return http_.send(request);
}

net::Response Buckets::must(net::ClientRequest request, std::string_view service,
                            std::string_view what) {
  auto response = send(std::move(request), service);
  if (response.status / 100 == 2) return response;
  std::string why = "HTTP status " + std::to_string(response.status);
  if (auto answer = base::parse_xml(response.body)) {
    const auto* error = answer->name == "Error" ? &*answer : answer->find("Error");
    if (error != nullptr) why = error->text_of("Code") + ": " + error->text_of("Message");
  }
  throw base::Error(code_of(response.status), std::string(what) + ": " + why);
}

std::vector<BucketInfo> Buckets::list() {
  auto response = must({.method = "GET", .url = "/"}, "s3", "listing buckets");
  auto buckets = parse_bucket_list(response.body);
  if (!buckets) throw base::Error(base::Code::data_loss, "bucket list: " + buckets.error().text());
  return *buckets;
}

bool Buckets::exists(const std::string& bucket) {
  return send({.method = "HEAD", .url = encoded_path(bucket)}, "s3").status != 404;
}

void Buckets::create(const std::string& bucket) {
  net::ClientRequest request{.method = "PUT", .url = encoded_path(bucket)};
  if (installation_.region != "us-east-1")
    request.body =
        "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        "<LocationConstraint>" +
        installation_.region + "</LocationConstraint></CreateBucketConfiguration>";
  must(std::move(request), "s3", "creating bucket '" + bucket + "'");
}

void Buckets::remove(const std::string& bucket) {
  must({.method = "DELETE", .url = encoded_path(bucket)}, "s3", "removing bucket '" + bucket + "'");
}

FolderPage Buckets::list_folder(const std::string& bucket, const std::string& prefix,
                                const std::string& token) {
  std::string query;
  if (!token.empty()) query += "continuation-token=" + base::percent_encode(token) + "&";
  query += "delimiter=%2F&encoding-type=url&list-type=2&prefix=" + base::percent_encode(prefix);
  auto response = must({.method = "GET", .url = encoded_path(bucket) + "?" + query}, "s3",
                       "listing s3://" + bucket + "/" + prefix);
  auto page = parse_folder_page(response.body);
  if (!page) throw base::Error(base::Code::data_loss, "object list: " + page.error().text());
  return *page;
}

void Buckets::copy(const s3::Uri& from, const s3::Uri& to) {
  net::ClientRequest request{.method = "PUT", .url = encoded_path(to.bucket, to.key)};
  request.headers.set("x-amz-copy-source", encoded_path(from.bucket, from.key));
  must(std::move(request), "s3", "copying " + from.text() + " to " + to.text());
}

std::string Buckets::account_id() {
  net::ClientRequest request{.method = "POST", .url = "/"};
  request.headers.set("content-type", "application/x-www-form-urlencoded; charset=utf-8");
  request.body = "Action=GetCallerIdentity&Version=2011-06-15";
  auto response = must(std::move(request), "sts", "asking who we are");
  auto answer = base::parse_xml(response.body);
  const auto* result = answer ? answer->find("GetCallerIdentityResult") : nullptr;
  if (result == nullptr)
    throw base::Error(base::Code::data_loss, "GetCallerIdentity gave no result");
  return result->text_of("Account");
}

}  // namespace meridian::cli
