// SPDX-License-Identifier: Apache-2.0
#include "s3/client.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/digest.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/xml.h"
#include "s3/error.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t most_parts = 10'000;

S3Error error_of(const net::Response& response, const std::string& bucket) {
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

std::string etag_of(const net::Response& response) {
  return base::replace_all(response.headers.get("etag"), "\"", "");
}

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

// A stretch of a file as a request body; its MD5 is known once it was read to the end.
class Stretch final : public net::BodyReader {
 public:
  Stretch(const std::filesystem::path& file, std::uint64_t offset, std::uint64_t count)
      : fd_(base::open_file(file, O_RDONLY | O_CLOEXEC)), offset_(offset), count_(count) {
    rewind();
  }
  void rewind() {
    at_ = 0;
    md5_.emplace(base::DigestKind::md5);
  }
  std::size_t read(char* buffer, std::size_t size) override {
    const auto want = std::min<std::uint64_t>(size, count_ - at_);
    if (want == 0) return 0;
    const auto n = ::pread(fd_.get(), buffer, want, static_cast<off_t>(offset_ + at_));
    if (n < 0) throw base::errno_error(errno, "reading a file to upload");
    if (n == 0) throw base::Error(base::Code::data_loss, "a file shrank while it was uploaded");
    md5_->update({buffer, static_cast<std::size_t>(n)});
    at_ += static_cast<std::uint64_t>(n);
    return static_cast<std::size_t>(n);
  }
  std::optional<std::uint64_t> length() const override { return count_; }
  std::string finish_md5() { return base::hex(md5_->finish()); }

 private:
  base::UniqueFd fd_;
  std::uint64_t offset_, count_, at_ = 0;
  std::optional<base::Digest> md5_;
};

bool is_plain_md5(std::string_view etag) { return etag.size() == 32 && base::unhex(etag); }

}  // namespace

// Fetches range after range; the first one says how much there is.
class RangeReader final : public net::BodyReader {
 public:
  RangeReader(Client& client, std::string bucket, std::string key, std::uint64_t offset,
              std::optional<std::uint64_t> count)
      : client_(client), bucket_(std::move(bucket)), key_(std::move(key)), next_(offset) {
    if (count) end_ = offset + *count;
    fetch();
    length_ = end_.value() - std::min(offset, *end_);
  }

  std::size_t read(char* buffer, std::size_t size) override {
    if (at_ == held_.size()) {
      if (next_ >= *end_) return 0;
      fetch();
    }
    const auto n = std::min(size, held_.size() - at_);
    std::copy_n(held_.data() + at_, n, buffer);
    at_ += n;
    return n;
  }
  std::optional<std::uint64_t> length() const override { return length_; }

 private:
  void fetch() {
    const auto last =
        std::min(next_ + client_.settings_.range_bytes, end_.value_or(~std::uint64_t{0}));
    net::ClientRequest request{.url = client_.url(bucket_, key_)};
    if (last > next_)
      request.headers.set("Range",
                          "bytes=" + std::to_string(next_) + "-" + std::to_string(last - 1));
    if (!etag_.empty()) request.headers.set("If-Match", etag_);
    auto response = client_.send(request, bucket_);
    at_ = 0;
    held_.clear();
    if (response.status == 416) {  // behind the end: nothing to read
      end_ = next_;
      return;
    }
    if (response.status == 404 && response.body.find("NoSuchBucket") == std::string::npos)
      throw no_such_key(key_);
    if (response.status != 200 && response.status != 206) throw error_of(response, bucket_);
    etag_ = response.headers.get("etag");
    held_ = std::move(response.body);
    const auto range = response.headers.get("content-range");  // bytes a-b/total
    const auto total = base::to_uint(range.substr(range.rfind('/') + 1));
    const auto there = response.status == 206 && total ? *total : next_ + held_.size();
    end_ = std::min(end_.value_or(there), there);
    if (last == next_) held_.clear();  // zero bytes were asked for
    next_ += held_.size();
  }

  Client& client_;
  std::string bucket_, key_, etag_, held_;
  std::size_t at_ = 0;
  std::uint64_t next_, length_ = 0;
  std::optional<std::uint64_t> end_;
};

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

net::Response Client::send(net::ClientRequest request, const std::string& bucket,
                           const std::function<void()>& restart, std::stop_token stop) {
  for (int attempt = 1;; ++attempt) {
    auto signed_request = request;
    aws::sign(signed_request, settings_.credentials, region_of(bucket), "s3", clock_.now());
    const bool last = attempt >= settings_.attempts;
    try {
      auto response = http_.send(signed_request, stop);
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
    if (restart) restart();
  }
}

net::Response Client::call(net::ClientRequest request, const std::string& bucket,
                           const std::function<void()>& restart, std::stop_token stop) {
  auto response = send(std::move(request), bucket, restart, stop);
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

std::unique_ptr<net::BodyReader> Client::open(const std::string& bucket, const std::string& key,
                                              std::uint64_t offset,
                                              std::optional<std::uint64_t> count) {
  return std::make_unique<RangeReader>(*this, bucket, key, offset, count);
}

std::optional<std::filesystem::path> Client::find_file(const std::string&, const std::string&) {
  return std::nullopt;
}

std::string Client::put_stretch(const std::string& bucket, const std::string& target,
                                const std::filesystem::path& file, std::uint64_t offset,
                                std::uint64_t count, std::stop_token stop) {
  Stretch stretch(file, offset, count);
  const auto response = call(
      {.method = "PUT", .url = target, .stream = &stretch}, bucket, [&] { stretch.rewind(); },
      stop);
  const auto etag = etag_of(response);
  const bool encrypted = response.headers.get("x-amz-server-side-encryption") == "aws:kms";
  if (is_plain_md5(etag) && !encrypted && etag != stretch.finish_md5())
    throw base::Error(base::Code::data_loss, "what was uploaded from " + file.string() +
                                                 " is not what arrived (ETag " + etag + ")");
  return etag;
}

void Client::put_file(const std::string& bucket, const std::string& key,
                      const std::filesystem::path& file, std::stop_token stop) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed) throw base::errno_error(failed.value(), "reading " + file.string());
  if (size > settings_.part_bytes)
    put_parts(bucket, key, file, size, stop);
  else
    put_stretch(bucket, url(bucket, key), file, 0, size, stop);
}

void Client::put_parts(const std::string& bucket, const std::string& key,
                       const std::filesystem::path& file, std::uint64_t size,
                       std::stop_token stop) {
  const auto created =
      call({.method = "POST", .url = url(bucket, key, "uploads=")}, bucket, {}, stop);
  const auto xml = base::parse_xml(created.body);
  const auto id = xml ? base::percent_encode(xml->text_of("UploadId")) : "";
  if (id.empty())
    throw base::Error(base::Code::data_loss, "the endpoint began an upload without an UploadId");
  try {
    const auto part_bytes = std::max(settings_.part_bytes, (size + most_parts - 1) / most_parts);
    base::XmlWriter list;
    list.open("CompleteMultipartUpload");
    int number = 0;
    for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
      const auto query = "partNumber=" + std::to_string(++number) + "&uploadId=" + id;
      const auto etag = put_stretch(bucket, url(bucket, key, query), file, offset,
                                    std::min(part_bytes, size - offset), stop);
      list.open("Part")
          .element("PartNumber", std::to_string(number))
          .element("ETag", "\"" + etag + "\"")
          .close();
    }
    const auto done =
        call({.method = "POST", .url = url(bucket, key, "uploadId=" + id), .body = list.finish()},
             bucket, {}, stop);
    // AWS may answer 200 and then say in the body that it failed.
    if (const auto answer = base::parse_xml(done.body); answer && answer->name == "Error")
      throw error_of({.status = 500, .body = done.body}, bucket);
  } catch (...) {  // parts left behind would cost money
    send({.method = "DELETE", .url = url(bucket, key, "uploadId=" + id)}, bucket);
    throw;
  }
}

void Client::put_bytes(const std::string& bucket, const std::string& key, std::string_view bytes) {
  call({.method = "PUT", .url = url(bucket, key), .body = std::string(bytes)}, bucket);
}

void Client::remove(const std::string& bucket, const std::string& key) {
  call({.method = "DELETE", .url = url(bucket, key)}, bucket);
}

}  // namespace meridian::s3
