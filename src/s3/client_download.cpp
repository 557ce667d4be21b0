// What the client reads: streams in ranges, and objects straight into files.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "base/strings.h"
#include "s3/client.h"
#include "s3/local_copy.h"

namespace meridian::s3 {
namespace {

std::string range_header(std::uint64_t offset, std::uint64_t end) {
  return "bytes=" + std::to_string(offset) + "-" + std::to_string(end - 1);
}

// Writes to a file in large pieces what libcurl hands out in small ones (16 KiB).
class Gathered {
 public:
  Gathered(int file, std::uint64_t begin) : file_(file), begin_(begin), at_(begin) {}
  void begin_again() {
    held_.clear();
    at_ = begin_;
  }
  void add(std::string_view bytes) {
    held_ += bytes;
    if (held_.size() >= piece_bytes) flush();
  }
  void flush() {
    write_at(file_, at_, held_);
    at_ += held_.size();
    held_.clear();
  }
  std::uint64_t end() const { return at_; }  // once flushed

 private:
  static constexpr std::size_t piece_bytes = 256u << 10;
  int file_;
  std::uint64_t begin_, at_;
  std::string held_;
};

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
    if (last > next_) request.headers.set("Range", range_header(next_, last));
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
    if (response.status != 200 && response.status != 206) throw client_.error_of(response, bucket_);
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

std::unique_ptr<net::BodyReader> Client::open(const std::string& bucket, const std::string& key,
                                              std::uint64_t offset,
                                              std::optional<std::uint64_t> count) {
  return std::make_unique<RangeReader>(*this, bucket, key, offset, count);
}

void Client::fetch(const std::string& bucket, const std::string& key, int file,
                   const std::optional<Stretch>& stretch) {
  net::ClientRequest request{.url = url(bucket, key)};
  const auto begin = stretch ? stretch->offset : 0;
  if (stretch) {
    request.headers.set("Range", range_header(begin, begin + stretch->count));
    request.headers.set("If-Match", "\"" + stretch->etag + "\"");
  }
  Gathered out(file, begin);
  const auto response = send(request, bucket,
                             {.restart = [&] { out.begin_again(); },
                              .sink = [&](std::string_view bytes) { out.add(bytes); }});
  if (response.status == 404 && response.body.find("NoSuchBucket") == std::string::npos)
    throw no_such_key(key);
  if (response.status == 412)
    throw base::Error(base::Code::failed_precondition,
                      Uri{bucket, key}.text() + " was replaced while it was read");
  if (response.status != (stretch ? 206 : 200)) throw error_of(response, bucket);
  out.flush();
  if (stretch && out.end() != begin + stretch->count)
    throw base::Error(base::Code::data_loss, Uri{bucket, key}.text() + " is shorter than it was");
  // An earlier try may have written more, of an older version.
  if (!stretch && ::ftruncate(file, static_cast<off_t>(out.end())) != 0)
    throw base::errno_error(errno, "writing an object's file");
}

}  // namespace meridian::s3
