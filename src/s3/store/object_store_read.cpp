// Reading: held objects, and the Objects interface that staging and uploads use.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "s3/error.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

// Reads the pieces of a held object as one stream.
class PieceReader final : public net::BodyReader {
 public:
  PieceReader(const ContentFiles& files, HeldObject object, std::uint64_t offset,
              std::uint64_t count)
      : files_(files), object_(std::move(object)), left_(count), count_(count) {
    if (object_.file)  // one piece, whatever they were
      object_.record.pieces = {{.id = object_.record.pieces[0].id, .size = object_.record.size}};
    auto& pieces = object_.record.pieces;
    while (piece_ < pieces.size() && offset >= pieces[piece_].size) offset -= pieces[piece_++].size;
    offset_ = offset;
  }

  std::size_t read(char* buffer, std::size_t size) override {
    const auto& pieces = object_.record.pieces;
    while (left_ > 0 && piece_ < pieces.size()) {
      if (offset_ == pieces[piece_].size) {
        ++piece_;
        offset_ = 0;
        fd_.reset();
        continue;
      }
      const auto want = std::min<std::uint64_t>({size, left_, pieces[piece_].size - offset_});
      const auto n =
          ::pread(fd(), buffer, want, static_cast<off_t>(pieces[piece_].offset + offset_));
      if (n < 0) throw base::errno_error(errno, "reading object content");
      if (n == 0) break;
      offset_ += static_cast<std::uint64_t>(n);
      left_ -= static_cast<std::uint64_t>(n);
      return static_cast<std::size_t>(n);
    }
    if (left_ > 0)
      throw base::Error(base::Code::data_loss, "object content is shorter than recorded");
    return 0;
  }
  std::optional<std::uint64_t> length() const override { return count_; }

 private:
  int fd() {
    if (object_.file) return object_.file->get();
    if (!fd_) {
      auto opened = files_.open(object_.record.pieces[piece_].id);
      if (!opened) throw base::Error(base::Code::data_loss, "object content is missing");
      fd_ = std::move(*opened);
    }
    return fd_.get();
  }

  const ContentFiles& files_;
  HeldObject object_;
  std::size_t piece_ = 0;
  std::uint64_t offset_ = 0, left_, count_;
  base::UniqueFd fd_;
};

class FileReader final : public net::BodyReader {
 public:
  FileReader(const std::filesystem::path& file, std::stop_token stop)
      : fd_(base::open_file(file, O_RDONLY | O_CLOEXEC)), stop_(std::move(stop)) {}
  std::size_t read(char* buffer, std::size_t size) override {
    if (stop_.stop_requested())
      throw base::Error(base::Code::cancelled, "the upload was cancelled");
    const auto n = ::read(fd_.get(), buffer, size);
    if (n < 0) throw base::errno_error(errno, "reading a file to upload");
    return static_cast<std::size_t>(n);
  }
  // A file may grow or shrink while it is read: its end is where reading ends.
  std::optional<std::uint64_t> length() const override { return std::nullopt; }

 private:
  base::UniqueFd fd_;
  std::stop_token stop_;
};

constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

std::uint64_t size_of(const base::UniqueFd& file) {
  struct stat status{};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool is_of_size(const std::filesystem::path& file, std::uint64_t size) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) == size;
}

void check_size(const base::UniqueFd& file, const ObjectRecord& record) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != record.size)
    throw base::Error(base::Code::internal, "the content of '" + record.key + "' is damaged: " +
                                                std::to_string(record.size) + " bytes expected, " +
                                                std::to_string(status.st_size) + " found");
}

}  // namespace

std::optional<HeldObject> ObjectStore::hold(const std::string& bucket_name, const std::string& key,
                                            const std::string& version_id) {
  const auto bucket = require_bucket(bucket_name);
  store::Revision last_seen = -1;
  while (true) {
    auto located = locate(*bucket, key, version_id);
    if (!located || located->record.delete_marker) return std::nullopt;
    auto& record = located->record;
    std::vector<std::string> ids;
    for (const auto& piece : record.pieces) {
      if (ids.empty() || ids.back() != piece.id) ids.push_back(piece.id);
    }
    auto pin = std::make_unique<ContentFiles::Pin>(files_, std::move(ids));
    auto file = is_one_file(record.pieces) ? files_.open(record.pieces[0].id) : std::nullopt;
    if (file && (record.pieces.size() == 1 || size_of(*file) == record.size)) {
      check_size(*file, record);
      return HeldObject{std::move(record), std::move(*file), std::move(pin)};
    }
    if (record.pieces.size() != 1) {
      const auto again = locate(*bucket, key, version_id);
      if (again && again->revision == located->revision)
        return HeldObject{std::move(record), std::nullopt, std::move(pin)};
    }
    // Overwritten or removed between the look-up and the hold: look again.
    if (located->revision == last_seen)
      throw base::Error(base::Code::internal, "the content of '" + key + "' is missing");
    last_seen = located->revision;
  }
}

std::unique_ptr<net::BodyReader> ObjectStore::read(HeldObject object, std::uint64_t offset,
                                                   std::uint64_t count) {
  return std::make_unique<PieceReader>(files_, std::move(object), offset, count);
}

ObjectPage ObjectStore::list(const std::string& bucket, const std::string& prefix,
                             const std::string& after, std::size_t limit) {
  auto listing = list_objects({.bucket = bucket, .prefix = prefix, .after = after, .limit = limit});
  ObjectPage page;
  for (auto& object : listing.objects)
    page.objects.push_back(
        {std::move(object.key), object.size, std::move(object.etag), object.modified});
  if (listing.truncated) page.next_after = listing.next;
  return page;
}

std::optional<ObjectInfo> ObjectStore::find(const std::string& bucket, const std::string& key) {
  auto record = find_record(bucket, key);
  if (!record) return std::nullopt;
  return ObjectInfo{key, record->size, record->etag, record->modified};
}

std::unique_ptr<net::BodyReader> ObjectStore::open(const std::string& bucket,
                                                   const std::string& key, std::uint64_t offset,
                                                   std::optional<std::uint64_t> count) {
  auto held = hold(bucket, key);
  if (!held) throw no_such_key(key);
  const auto size = held->record.size;
  offset = std::min(offset, size);
  return read(std::move(*held), offset, std::min(count.value_or(size), size - offset));
}

std::optional<std::filesystem::path> ObjectStore::find_file(const std::string& bucket,
                                                            const std::string& key) {
  const auto record = find_record(bucket, key);
  if (!record || !is_one_file(record->pieces)) return std::nullopt;
  auto path = files_.path_of(record->pieces[0].id);
  // A file that parts share may hold more than those that were listed at the end.
  if (record->pieces.size() > 1 && !is_of_size(path, record->size)) return std::nullopt;
  return path;
}

std::optional<std::vector<Objects::LocalPiece>> ObjectStore::find_pieces(const std::string& bucket,
                                                                         const std::string& key) {
  const auto record = find_record(bucket, key);
  if (!record) return std::nullopt;
  if (auto file = find_file(bucket, key)) return std::vector<LocalPiece>{{*file, record->size}};
  std::vector<LocalPiece> pieces;
  for (const Piece& piece : record->pieces)
    pieces.push_back({files_.path_of(piece.id), piece.size, piece.offset});
  return pieces;
}

void ObjectStore::put_file(const std::string& bucket, const std::string& key,
                           const std::filesystem::path& file, std::stop_token stop) {
  FileReader reader(file, std::move(stop));
  insert({.bucket = bucket, .key = key}, files_.receive(reader, std::nullopt, no_limit));
}

void ObjectStore::adopt_file(const std::string& bucket, const std::string& key,
                             const std::filesystem::path& file, std::stop_token stop) {
  require_bucket(bucket);
  if (auto adopted = files_.adopt(file))
    insert({.bucket = bucket, .key = key}, std::move(*adopted));
  else
    Objects::adopt_file(bucket, key, file, std::move(stop));
}

void ObjectStore::put_bytes(const std::string& bucket, const std::string& key,
                            std::string_view bytes) {
  net::StringBody body{std::string(bytes)};
  put({.bucket = bucket, .key = key}, body);
}

void ObjectStore::remove(const std::string& bucket, const std::string& key) {
  remove_version(bucket, key);
}

}  // namespace meridian::s3
