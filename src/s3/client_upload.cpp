// What the client sends: files in one piece, or in parts over several connections.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/xml.h"
#include "s3/client.h"
#include "s3/in_parallel.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t most_parts = 10'000;

// Part of a file as a request body; its MD5 is known once it was read to the end.
class FileBody final : public net::BodyReader {
 public:
  FileBody(const std::filesystem::path& file, std::uint64_t offset, std::uint64_t count)
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

std::string completion_of(const std::vector<std::string>& etags) {
  base::XmlWriter list;
  list.open("CompleteMultipartUpload");
  for (std::size_t i = 0; i < etags.size(); ++i)
    list.open("Part")
        .element("PartNumber", std::to_string(i + 1))
        .element("ETag", "\"" + etags[i] + "\"")
        .close();
  return list.finish();
}

bool is_plain_md5(std::string_view etag) { return etag.size() == 32 && base::unhex(etag); }

}  // namespace

std::string Client::put_stretch(const std::string& bucket, const std::string& target,
                                const std::filesystem::path& file, std::uint64_t offset,
                                std::uint64_t count, std::stop_token stop) {
  FileBody body(file, offset, count);
  const auto response = call({.method = "PUT", .url = target, .stream = &body}, bucket,
                             {.restart = [&] { body.rewind(); }, .stop = std::move(stop)});
  const auto etag = etag_of(response);
  const bool encrypted = response.headers.get("x-amz-server-side-encryption") == "aws:kms";
  if (is_plain_md5(etag) && !encrypted && etag != body.finish_md5())
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
      call({.method = "POST", .url = url(bucket, key, "uploads=")}, bucket, {.stop = stop});
  const auto xml = base::parse_xml(created.body);
  const auto id = xml ? base::percent_encode(xml->text_of("UploadId")) : "";
  if (id.empty())
    throw base::Error(base::Code::data_loss, "the endpoint began an upload without an UploadId");
  try {
    const auto part_bytes = std::max(settings_.part_bytes, (size + most_parts - 1) / most_parts);
    std::vector<std::string> etags((size + part_bytes - 1) / part_bytes);
    in_parallel(etags.size(), settings_.connections, [&](std::size_t i) {
      const auto query = "partNumber=" + std::to_string(i + 1) + "&uploadId=" + id;
      const auto offset = i * part_bytes;
      etags[i] = put_stretch(bucket, url(bucket, key, query), file, offset,
                             std::min(part_bytes, size - offset), stop);
    });
    const auto done = call(
        {.method = "POST", .url = url(bucket, key, "uploadId=" + id), .body = completion_of(etags)},
        bucket, {.stop = stop});
    // AWS may answer 200 and then say in the body that it failed.
    if (const auto answer = base::parse_xml(done.body); answer && answer->name == "Error")
      throw error_of({.status = 500, .body = done.body}, bucket);
  } catch (...) {  // parts left behind would cost money
    send({.method = "DELETE", .url = url(bucket, key, "uploadId=" + id)}, bucket);
    throw;
  }
}

}  // namespace meridian::s3
