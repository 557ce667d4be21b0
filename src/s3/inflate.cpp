// SPDX-License-Identifier: Apache-2.0
#include "s3/inflate.h"

#include <zlib.h>

#include "base/error.h"

namespace meridian::s3 {
namespace {

class Inflater final : public net::BodyReader {
 public:
  Inflater(std::unique_ptr<net::BodyReader> compressed, std::string what)
      : compressed_(std::move(compressed)), what_(std::move(what)), input_(256u << 10, '\0') {
    constexpr int gzip_only = 16;
    if (::inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK)
      throw base::Error(base::Code::internal, "zlib does not start");
  }
  ~Inflater() override { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && size > 0) {
      if (stream_.avail_in == 0 && !refill()) break;
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      between_members_ = result == Z_STREAM_END;
      if (between_members_)
        ::inflateReset(&stream_);
      else if (result != Z_OK && result != Z_BUF_ERROR)
        fail(stream_.msg ? stream_.msg : "broken");
    }
    return size - stream_.avail_out;
  }
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  bool refill() {
    const auto n = compressed_->read(input_.data(), input_.size());
    if (n == 0) {
      if (!between_members_) fail("it ends early");
      return false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(n);
    return true;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw base::Error(base::Code::data_loss, what_ + " is not good gzip data: " + why);
  }

  std::unique_ptr<net::BodyReader> compressed_;
  std::string what_, input_;
  z_stream stream_{};
  bool between_members_ = true;  // an empty object holds nothing
};

}  // namespace

std::unique_ptr<net::BodyReader> inflate(std::unique_ptr<net::BodyReader> compressed,
                                         std::string what) {
  return std::make_unique<Inflater>(std::move(compressed), std::move(what));
}

}  // namespace meridian::s3
