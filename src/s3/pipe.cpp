// SPDX-License-Identifier: Apache-2.0
#include "s3/pipe.h"

#include <limits>
#include <variant>

#include "s3/inflate.h"
#include "s3/manifest.h"
#include "s3/shuffle.h"

namespace meridian::s3 {
namespace {

constexpr std::size_t largest_manifest = 256u << 20;
constexpr std::uint64_t largest_record = std::numeric_limits<std::uint32_t>::max();

// One thing of the stream.
using Item = ManifestValue;

std::vector<Item> items_of_manifest(Objects& objects, const ChannelSource& source,
                                    const PipeEpoch& settings) {
  const auto file = list_channel(objects, source).at(0);
  const auto text = objects.open(file.bucket, file.info.key)->read_all(largest_manifest);
  auto records = parse_augmented_manifest(text, source.attributes);
  if (!records)
    throw base::Error(base::Code::invalid_argument,
                      "manifest " + source.uri + ": " + records.error().text());
  if (source.shuffle_seed) shuffle(*records, *source.shuffle_seed, settings.epoch);
  if (source.distribution == Distribution::sharded && settings.count > 1)
    *records = shard(std::move(*records), settings.index, settings.count);
  std::vector<Item> items;
  for (auto& record : *records) {
    for (auto& value : record) items.push_back(std::move(value));
  }
  return items;
}

std::vector<Item> items_of(Objects& objects, const ChannelSource& source,
                           const PipeEpoch& settings) {
  if (source.type == DataType::augmented_manifest)
    return items_of_manifest(objects, source, settings);
  std::vector<Item> items;
  for (auto& object : list_channel(objects, source, settings.index, settings.count, settings.epoch))
    items.push_back(Uri{std::move(object.bucket), std::move(object.info.key)});
  return items;
}

class EpochReader final : public net::BodyReader {
 public:
  EpochReader(Objects& objects, std::vector<Item> items, const PipeEpoch& settings)
      : objects_(objects), items_(std::move(items)), settings_(settings) {}

  std::size_t read(char* buffer, std::size_t size) override {
    while (size > 0) {
      if (at_ < framing_.size()) return take(framing_, at_, buffer, size);
      if (body_) {
        const auto n = body_->read(buffer, size);
        left_ -= settings_.wrapper == RecordWrapper::none ? 0 : n;
        if (n > 0) return n;
        end_item();
        continue;
      }
      if (next_ == items_.size()) return 0;
      begin_item(items_[next_++]);
    }
    return 0;
  }
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  static std::size_t take(const std::string& from, std::size_t& at, char* buffer,
                          std::size_t size) {
    const auto n = from.copy(buffer, size, at);
    at += n;
    return n;
  }

  void frame(std::string bytes) {
    framing_ = std::move(bytes);
    at_ = 0;
  }

  void begin_item(const Item& item) {
    body_ = open(item);
    if (settings_.wrapper == RecordWrapper::none) return;
    auto length = body_->length();
    if (!length) {  // inflated: its length is known only at its end
      auto bytes = body_->read_all(largest_record);
      length = bytes.size();
      body_ = std::make_unique<net::StringBody>(std::move(bytes));
    }
    if (*length > largest_record)
      throw base::Error(base::Code::invalid_argument,
                        name_of(item) + " is too long for a RecordIO record (4 GiB)");
    left_ = *length;
    padding_ = record_io_padding(*length);
    frame(record_io_header(static_cast<std::uint32_t>(*length)));
  }

  void end_item() {
    body_.reset();
    if (settings_.wrapper == RecordWrapper::none) return;
    if (left_ != 0) throw base::Error(base::Code::data_loss, "an object is not as long as it said");
    frame(std::string(padding_, '\0'));
  }

  std::unique_ptr<net::BodyReader> open(const Item& item) {
    if (const auto* text = std::get_if<std::string>(&item))
      return std::make_unique<net::StringBody>(*text);
    const auto& uri = std::get<Uri>(item);
    auto body = objects_.open(uri.bucket, uri.key);
    if (settings_.decompress == Decompress::none) return body;
    return inflate(std::move(body), uri.text());
  }

  static std::string name_of(const Item& item) {
    const auto* uri = std::get_if<Uri>(&item);
    return uri ? uri->text() : "a record of the manifest";
  }

  Objects& objects_;
  std::vector<Item> items_;
  PipeEpoch settings_;
  std::size_t next_ = 0, at_ = 0, padding_ = 0;
  std::uint64_t left_ = 0;
  std::string framing_;
  std::unique_ptr<net::BodyReader> body_;
};

}  // namespace

std::string record_io_header(std::uint32_t length) {
  std::string header;
  for (std::uint32_t word : {std::uint32_t{0xced7230a}, length}) {
    for (int shift = 0; shift < 32; shift += 8) header += static_cast<char>(word >> shift);
  }
  return header;
}

std::size_t record_io_padding(std::uint64_t length) { return (4 - length % 4) % 4; }

std::unique_ptr<net::BodyReader> open_pipe_epoch(Objects& objects, const ChannelSource& source,
                                                 const PipeEpoch& settings) {
  return std::make_unique<EpochReader>(objects, items_of(objects, source, settings), settings);
}

}  // namespace meridian::s3
