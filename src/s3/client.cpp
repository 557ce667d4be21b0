// SPDX-License-Identifier: Apache-2.0
#include "s3/client.h"

#include <thread>

#include "base/strings.h"
#include "base/xml.h"

namespace meridian::s3 {
namespace {

base::Timestamp time_of(std::string_view text) {
  if (const auto time = base::parse_iso8601(text)) return *time;
  if (const auto time = base::parse_http_date(text)) return *time;
  return {};
}

// AWS writes a blank as '+' in URL-encoded listings.
std::string decode(std::string_view text) {
  auto plain = base::percent_decode(base::replace_all(text, "+", "%20"));
  return plain ? *plain : std::string(text);
}

}  // namespace

S3Error Client::error_of(const net::Response& response, const std::string& bucket) {
  const auto xml = base::parse_xml(response.body);
  const bool told = xml && xml->name == "Error";
  auto code = told ? xml->text_of("Code") : "";
  auto message = told ? xml->text_of("Message") : "";
  if (code.empty())
    code = response.status == 404 ? "NotFound" : "HTTP" + std::to_string(response.status);
  if (message.empty())
    message = "status " + std::to_string(response.status) + " for bucket '" + bucket + "'";
  return {code, message, response.status};
}

std::string Client::etag_of(const net::Response& response) {
  return base::replace_all(response.headers.get("etag"), "\"", "");
}

Client::Client(net::HttpClient& http, const base::Clock& clock, ClientSettings settings)
    : http_(http), clock_(clock), settings_(std::move(settings)) {}

std::string Client::url(const std::string& bucket, const std::string& key,
                        const std::string& query) const {
  return settings_.endpoint + "/" + base::percent_encode(bucket) +
         (key.empty() ? "" : "/" + base::percent_encode(key, "/")) +
         (query.empty() ? "" : "?" + query);
}

std::string Client::region_of(const std::string& bucket) const {
  auto regions = regions_.lock();
  const auto found = regions->find(bucket);
  return found == regions->end() ? settings_.region : found->second;
}

net::Response Client::send(const net::ClientRequest& request, const std::string& bucket,
                           const Exchange& exchange) {
  for (int attempt = 1;; ++attempt) {
    auto signed_request = request;
    aws::sign(signed_request, settings_.credentials, region_of(bucket), "s3", clock_.now());
    const bool last = attempt >= settings_.attempts;
    try {
      auto response = exchange.sink ? http_.send(signed_request, exchange.sink, exchange.stop)
                                    : http_.send(signed_request, exchange.stop);
      const auto region = response.headers.get("x-amz-bucket-region");
      if (response.status == 301 && !region.empty() && region != region_of(bucket) && !last) {
        (*regions_.lock())[bucket] = region;
      } else if (last || (response.status != 500 && response.status != 503)) {
        return response;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(50 << attempt));
      }
    } catch (const base::Error& error) {
      if (last || !error.retryable()) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(50 << attempt));
    }
    if (exchange.restart) exchange.restart();
  }
}

net::Response Client::call(const net::ClientRequest& request, const std::string& bucket,
                           const Exchange& exchange) {
  auto response = send(request, bucket, exchange);
  if (response.status < 200 || response.status > 299) throw error_of(response, bucket);
  return response;
}

ObjectPage Client::list(const std::string& bucket, const std::string& prefix,
                        const std::string& after, std::size_t limit) {
  std::string query = "encoding-type=url&list-type=2&max-keys=" + std::to_string(limit) +
                      "&prefix=" + base::percent_encode(prefix);
  if (!after.empty()) query += "&start-after=" + base::percent_encode(after);
  const auto response = call({.url = url(bucket, "", query)}, bucket);
  const auto xml = base::parse_xml(response.body, 16u << 20);
  if (!xml)
    throw base::Error(base::Code::data_loss,
                      "the listing of bucket '" + bucket + "' is not XML: " + xml.error().text());
  ObjectPage page;
  for (const auto& child : xml->children) {
    if (child.name != "Contents") continue;
    page.objects.push_back({decode(child.text_of("Key")),
                            base::to_uint(child.text_of("Size")).value_or(0),
                            base::replace_all(child.text_of("ETag"), "\"", ""),
                            time_of(child.text_of("LastModified"))});
  }
  if (xml->text_of("IsTruncated") == "true" && !page.objects.empty())
    page.next_after = page.objects.back().key;
  return page;
}

std::optional<ObjectInfo> Client::find(const std::string& bucket, const std::string& key) {
  const auto response = send({.method = "HEAD", .url = url(bucket, key)}, bucket);
  if (response.status == 404) {  // of the key, or of the bucket: HEAD does not say
    const auto there = send({.method = "HEAD", .url = url(bucket, "")}, bucket);
    if (there.status == 404) throw no_such_bucket(bucket);
    return std::nullopt;
  }
  if (response.status != 200) throw error_of(response, bucket);
  return ObjectInfo{key, base::to_uint(response.headers.get("content-length")).value_or(0),
                    etag_of(response), time_of(response.headers.get("last-modified"))};
}

std::optional<std::filesystem::path> Client::find_file(const std::string&, const std::string&) {
  return std::nullopt;
}

void Client::put_bytes(const std::string& bucket, const std::string& key, std::string_view bytes) {
  call({.method = "PUT", .url = url(bucket, key), .body = std::string(bytes)}, bucket);
}

void Client::remove(const std::string& bucket, const std::string& key) {
  call({.method = "DELETE", .url = url(bucket, key)}, bucket);
}

}  // namespace meridian::s3
