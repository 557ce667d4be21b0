// Buckets and look-ups; see also object_store_{read,write,list,multipart,parts,complete}.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/store/object_store.h"

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

}  // namespace meridian::s3
