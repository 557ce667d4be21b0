// Buckets, look-ups and the Objects interface; see also
// object_store_{write,list,multipart,complete}.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/store/object_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/log.h"
#include "s3/error.h"

namespace meridian::s3 {
namespace {

std::unique_ptr<store::Store> open_index(const ObjectStoreSettings& settings) {
  base::make_directories(settings.directory);
  using Sync = store::SqliteSettings::Sync;
  return store::open_sqlite(
      {.path = (settings.directory / "s3.db").string(),
       .sync = settings.durability == base::Durability::synced ? Sync::synced : Sync::process});
}

// Written at an orderly end: the content then needs no sweep.
std::filesystem::path clean_mark(const ObjectStoreSettings& settings) {
  return settings.directory / "objects.clean";
}

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

ObjectStore::ObjectStore(ObjectStoreSettings settings, const base::Clock& clock,
                         base::Random& random)
    : ObjectStore(settings, open_index(settings), clock, random) {}

ObjectStore::ObjectStore(ObjectStoreSettings settings, std::unique_ptr<store::Store> index,
                         const base::Clock& clock, base::Random& random)
    : settings_(std::move(settings)),
      clock_(clock),
      random_(random),
      index_(std::move(index)),
      files_(settings_.directory / "objects", settings_.durability, random) {
  load_buckets();
  sweep_if_unclean();
}

ObjectStore::~ObjectStore() {
  try {
    base::write_file(clean_mark(settings_), "");
  } catch (const base::Error& error) {  // then the next start sweeps
    base::log_warn("object store not closed cleanly", {{"error", error.what()}});
  }
}

void ObjectStore::load_buckets() {
  store::ListQuery query{.equals = {{"kind", "bucket"}}, .limit = 1000};
  do {
    auto page = index_->list(query);
    for (const auto& document : page.documents) {
      auto bucket = std::make_shared<const BucketRecord>(bucket_of_body(document.body));
      buckets_[bucket->name] = bucket;
    }
    query.token = page.next_token;
  } while (!query.token.empty());
}

void ObjectStore::sweep_if_unclean() {
  std::error_code ignored;
  if (std::filesystem::remove(clean_mark(settings_), ignored)) {
    files_.remove_unfinished();
    return;
  }
  std::set<std::string> named;
  for (const auto& [name, bucket] : buckets_) {
    for (std::string_view letter : {"o", "v", "u", "p"}) {
      store::ListQuery query{.prefix = letter == "p"
                                           ? bucket->account + "/" + bucket->region + "/s3/p/"
                                           : family(*bucket, letter),
                             .limit = 1000};
      while (true) {
        const auto page = index_->list(query);
        for (const auto& document : page.documents) {
          if (letter == "p") {
            named.insert(part_of_body(document.body).piece.id);
          } else if (letter == "u") {
            named.insert(upload_of_body(document.body).file);
          } else {
            for (auto& piece : object_of_body(document.body, "").pieces) named.insert(piece.id);
          }
        }
        if (page.next_token.empty()) break;
        query.start_after = page.documents.back().key;
      }
    }
  }
  if (const auto removed = files_.sweep(named); removed > 0)
    base::log_info("removed content of unfinished uploads",
                   {{"region", settings_.region}, {"files", std::to_string(removed)}});
}

// Document keys.

std::string ObjectStore::bucket_key(const BucketRecord& bucket) const {
  return bucket.account + "/" + bucket.region + "/s3/b/" + bucket.name;
}
std::string ObjectStore::family(const BucketRecord& bucket, std::string_view letter) const {
  return bucket.account + "/" + bucket.region + "/s3/" + std::string(letter) + "/" + bucket.name +
         "/";
}
std::string ObjectStore::object_key(const BucketRecord& bucket, const std::string& key) const {
  return family(bucket, "o") + escape_key(key);
}
std::string ObjectStore::versions_key(const BucketRecord& bucket, const std::string& key) const {
  return family(bucket, "v") + escape_key(key) + '\0';
}
std::string ObjectStore::upload_key(const BucketRecord& bucket, const std::string& key,
                                    const std::string& id) const {
  return family(bucket, "u") + escape_key(key) + '\0' + id;
}
std::string ObjectStore::parts_prefix(const BucketRecord& bucket, const std::string& id) const {
  return bucket.account + "/" + bucket.region + "/s3/p/" + id + "/";
}

// Buckets.

void ObjectStore::create_bucket(BucketRecord bucket) {
  std::unique_lock lock(bucket_mutex_);
  if (auto found = buckets_.find(bucket.name); found != buckets_.end()) {
    if (found->second->account == bucket.account)
      throw S3Error("BucketAlreadyOwnedByYou",
                    "Your previous request to create the named bucket succeeded and you already "
                    "own it.",
                    409)
          .with("BucketName", bucket.name);
    throw S3Error("BucketAlreadyExists",
                  "The requested bucket name is not available. The bucket namespace is shared by "
                  "all users of the system. Please select a different name and try again.",
                  409)
        .with("BucketName", bucket.name);
  }
  bucket.region = settings_.region;
  if (bucket.created.ms == 0) bucket.created = clock_.now();
  const auto result =
      index_->commit({store::put(bucket_key(bucket), to_body(bucket), {{"kind", "bucket"}}, 0)});
  if (!result.ok())
    throw base::Error(base::Code::internal, "bucket '" + bucket.name + "' exists unseen");
  buckets_[bucket.name] = std::make_shared<const BucketRecord>(bucket);
}

ObjectStore::Bucket ObjectStore::find_bucket(const std::string& name) const {
  std::shared_lock lock(bucket_mutex_);
  const auto found = buckets_.find(name);
  return found == buckets_.end() ? nullptr : found->second;
}

ObjectStore::Bucket ObjectStore::require_bucket(const std::string& name) const {
  auto bucket = find_bucket(name);
  if (!bucket) throw no_such_bucket(name);
  return bucket;
}

std::vector<ObjectStore::Bucket> ObjectStore::list_buckets() const {
  std::shared_lock lock(bucket_mutex_);
  std::vector<Bucket> buckets;
  for (const auto& [name, bucket] : buckets_) buckets.push_back(bucket);
  return buckets;
}

void ObjectStore::update_bucket(const std::string& name,
                                const std::function<void(BucketRecord&)>& change) {
  std::unique_lock lock(bucket_mutex_);
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) throw no_such_bucket(name);
  BucketRecord bucket = *found->second;
  change(bucket);
  (void)index_->commit({store::put(bucket_key(bucket), to_body(bucket), {{"kind", "bucket"}})});
  found->second = std::make_shared<const BucketRecord>(std::move(bucket));
}

void ObjectStore::remove_bucket(const std::string& name) {
  std::unique_lock lock(bucket_mutex_);
  const auto found = buckets_.find(name);
  if (found == buckets_.end()) throw no_such_bucket(name);
  const auto& bucket = *found->second;
  for (std::string_view letter : {"o", "v", "u"}) {
    if (index_->list({.prefix = family(bucket, letter), .limit = 1}).documents.empty()) continue;
    throw S3Error("BucketNotEmpty", "The bucket you tried to delete is not empty", 409)
        .with("BucketName", name);
  }
  (void)index_->commit({store::remove(bucket_key(bucket))});
  buckets_.erase(found);
}

// Look-ups.

ObjectStore::Current ObjectStore::current(const BucketRecord& bucket, const std::string& key) {
  auto document = index_->find(object_key(bucket, key));
  if (!document) return {};
  return {object_of_body(document->body, key), document->revision};
}

std::vector<ObjectStore::Located> ObjectStore::older(const BucketRecord& bucket,
                                                     const std::string& key, std::size_t limit,
                                                     const std::string& after_order) {
  const auto prefix = versions_key(bucket, key);
  const auto page = index_->list({.prefix = prefix,
                                  .start_after = after_order.empty() ? "" : prefix + after_order,
                                  .limit = limit});
  std::vector<Located> versions;
  for (const auto& document : page.documents)
    versions.push_back({object_of_body(document.body, key), document.key, document.revision});
  return versions;
}

std::optional<ObjectStore::Located> ObjectStore::null_version(const BucketRecord& bucket,
                                                              const std::string& key) {
  std::string after;
  while (true) {
    auto versions = older(bucket, key, 1000, after);
    for (auto& version : versions) {
      if (version.record.version_id == "null") return version;
    }
    if (versions.size() < 1000) return std::nullopt;
    after = versions.back().record.order;
  }
}

std::optional<ObjectStore::Located> ObjectStore::locate(const BucketRecord& bucket,
                                                        const std::string& key,
                                                        const std::string& version_id) {
  auto now = current(bucket, key);
  if (now.record && (version_id.empty() || now.record->version_id == version_id))
    return Located{std::move(*now.record), object_key(bucket, key), now.revision};
  if (version_id.empty() || bucket.versioning == Versioning::off) return std::nullopt;
  if (version_id == "null") return null_version(bucket, key);
  auto document = index_->find(versions_key(bucket, key) + version_id.substr(0, 16));
  if (!document) return std::nullopt;
  auto record = object_of_body(document->body, key);
  if (record.version_id != version_id) return std::nullopt;
  return Located{std::move(record), document->key, document->revision};
}

std::optional<ObjectRecord> ObjectStore::find_record(const std::string& bucket,
                                                     const std::string& key,
                                                     const std::string& version_id) {
  auto located = locate(*require_bucket(bucket), key, version_id);
  if (!located) return std::nullopt;
  return std::move(located->record);
}

std::optional<std::string> ObjectStore::find_current_marker(const std::string& bucket_name,
                                                            const std::string& key) {
  const auto bucket = require_bucket(bucket_name);
  if (bucket->versioning == Versioning::off || current(*bucket, key).record) return std::nullopt;
  const auto newest = older(*bucket, key, 1);
  if (newest.empty() || !newest[0].record.delete_marker) return std::nullopt;
  return newest[0].record.version_id;
}

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

// Objects.

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
  for (const Piece& piece : record->pieces) {
    const auto path = files_.path_of(piece.id);
    if (!is_of_size(path, piece.size)) return std::nullopt;  // a stretch of a shared file
    pieces.push_back({path, piece.size});
  }
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
