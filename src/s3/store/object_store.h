// The objects of one region: an index in <directory>/s3.db, content below <directory>/objects/.
//
// Promises:
//   1. An object that was acknowledged is there, whole, after kill -9; with Durability::synced also
//      after power loss.
//   2. A write that fails half way leaves nothing: content becomes visible only by the commit of
//   its
//      index document.
//   3. Conditional writes are decided at the commit: of two writers with If-None-Match: *, one
//   wins.
//   4. A reader of an object that is overwritten or deleted meanwhile reads the old bytes to the
//   end.
//   5. A copy is a new name for the same immutable bytes (hard link), a completed multipart upload
//      is the list of its parts: neither copies data.
//
// Errors are S3Error (s3/error.h), which carry base codes too: not_found, permission_denied, …
// Thread-safe. Blocking.
//
//   ObjectStore store({.directory = data / "regions/us-west-2", .region = "us-west-2"}, clock,
//   random); store.create_bucket({.name = "data", .account = "000000000000"});
//   store.put_bytes("data", "a/b.txt", "hello");
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "s3/objects.h"
#include "s3/store/body_hasher.h"
#include "s3/store/content.h"
#include "s3/store/records.h"
#include "store/store.h"

namespace meridian::s3 {

struct ObjectStoreSettings {
  std::filesystem::path directory;  // regions/R
  std::string region;
  // none: an acknowledged object survives kill -9; synced: also power loss (slower puts).
  base::Durability durability = base::Durability::none;
};

// What a write demands of the object that is there.
struct WriteConditions {
  bool if_none_match_any = false;
  std::optional<std::string> if_match;  // ETag without quotes, or "*"
};

// What a client says about the bytes it sends; they must be so.
struct ExpectedDigests {
  std::optional<std::string> md5;  // raw bytes
  std::optional<ChecksumKind> kind;
  std::optional<std::string> checksum;  // base64
  // Called after the end of the body, for checksums that come in the trailer.
  std::function<std::optional<std::string>()> trailing_checksum;
};

// Everything about a new object but its bytes.
struct NewObject {
  std::string bucket, key;
  Fields metadata, headers, tags;
  std::string storage_class = "STANDARD";
  WriteConditions conditions;
  std::optional<ChecksumKind> checksum;  // to compute and keep
  ExpectedDigests expected;
};

struct Removal {
  std::string version_id;      // of what was removed, or of the new delete marker; "" = none
  bool delete_marker = false;  // a marker was made or removed
};

// A version as it was seen, and what expiring it means.
enum class Expiry { current, version };  // as a DELETE of the key; as one of the version
struct VersionSeen {
  std::string key, version_id, order;
  Expiry how = Expiry::current;
};

struct ListRequest {
  std::string bucket, prefix, delimiter;
  std::string after;          // exclusive
  std::string after_version;  // ListObjectVersions: the version id marker beside `after`
  std::size_t limit = 1000;
};
struct Listing {
  std::vector<ObjectRecord> objects;
  std::vector<std::string> common_prefixes;
  // Latest version of its key, for each of `objects` (ListObjectVersions only).
  std::vector<bool> latest;
  bool truncated = false;
  std::string next;          // key or common prefix to continue after
  std::string next_version;  // version id beside it
};

struct NewPart {
  std::string bucket, key, upload_id;
  int number = 0;
  ExpectedDigests expected;
};
struct CompletedPart {
  int number = 0;
  std::string etag;
  std::optional<std::string> checksum;
};
struct CompletionRequest {
  std::string bucket, key, upload_id;
  std::vector<CompletedPart> parts;
  WriteConditions conditions;
  // Of the whole object, to compare with.
  std::optional<std::uint64_t> size;
  std::optional<ChecksumKind> checksum_kind;
  std::optional<std::string> checksum;
};
struct UploadListing {
  std::vector<UploadRecord> uploads;
  std::vector<std::string> common_prefixes;
  bool truncated = false;
  std::string next_key, next_id;
};
struct PartListing {
  UploadRecord upload;
  std::vector<PartRecord> parts;
  bool truncated = false;
};

// An object with its bytes held: they stay readable while this lives.
struct HeldObject {
  ObjectRecord record;
  std::optional<base::UniqueFd> file;  // that holds it all and nothing else
  std::unique_ptr<ContentFiles::Pin> pin;
};

// `count` bytes from `offset` of what the pieces make up.
std::vector<Slice> slices_of(const std::vector<Piece>& pieces, std::uint64_t offset,
                             std::uint64_t count);

class ObjectStore final : public Objects {
 public:
  // Opens or creates. After a crash it removes content that the index does not name.
  ObjectStore(ObjectStoreSettings settings, const base::Clock& clock, base::Random& random);
  // Over an index that is given: for tests and simulations.
  ObjectStore(ObjectStoreSettings settings, std::unique_ptr<store::Store> index,
              const base::Clock& clock, base::Random& random);
  ~ObjectStore() override;

  const std::string& region() const { return settings_.region; }

  // Buckets. Names are checked for uniqueness within this region only; Server does the rest.
  void create_bucket(BucketRecord bucket);
  std::shared_ptr<const BucketRecord> find_bucket(const std::string& name) const;
  std::vector<std::shared_ptr<const BucketRecord>> list_buckets() const;  // by name
  void update_bucket(const std::string& name, const std::function<void(BucketRecord&)>& change);
  void remove_bucket(const std::string& name);  // BucketNotEmpty

  // Objects.
  ObjectRecord put(const NewObject& object, net::BodyReader& body);
  // version_id: "" = the current one. Delete markers are found by their version id only.
  std::optional<ObjectRecord> find_record(const std::string& bucket, const std::string& key,
                                          const std::string& version_id = "");
  // True when the key's current version is a delete marker (with its version id).
  std::optional<std::string> find_current_marker(const std::string& bucket, const std::string& key);
  std::optional<HeldObject> hold(const std::string& bucket, const std::string& key,
                                 const std::string& version_id = "");
  std::unique_ptr<net::BodyReader> read(HeldObject object, std::uint64_t offset,
                                        std::uint64_t count);
  // A new object with the bytes of `source`.
  ObjectRecord copy(const HeldObject& source, const NewObject& target);
  Removal remove_version(const std::string& bucket, const std::string& key,
                         const std::string& version_id = "");
  // False when it is not as it was seen any more: it then stays.
  bool expire(const std::string& bucket, const VersionSeen& seen);
  ObjectRecord set_tags(const std::string& bucket, const std::string& key,
                        const std::string& version_id, Fields tags);
  Listing list_objects(const ListRequest& request);
  Listing list_versions(const ListRequest& request);

  // Multipart uploads.
  UploadRecord create_upload(const NewObject& object, bool composite_checksum);
  PartRecord put_part(const NewPart& part, net::BodyReader& body);
  PartRecord copy_part(const NewPart& part, const HeldObject& source, std::uint64_t offset,
                       std::uint64_t count);
  // The same request again within a day gives the same answer.
  ObjectRecord complete_upload(const CompletionRequest& request);
  void abort_upload(const std::string& bucket, const std::string& key,
                    const std::string& upload_id);
  UploadListing list_uploads(const std::string& bucket, const std::string& prefix,
                             const std::string& delimiter, const std::string& after_key,
                             const std::string& after_id, std::size_t limit);
  PartListing list_parts(const std::string& bucket, const std::string& key,
                         const std::string& upload_id, int after, std::size_t limit);

  const ContentFiles& files() const { return files_; }

  // Objects: what staging, uploads and checkpoints use.
  ObjectPage list(const std::string& bucket, const std::string& prefix, const std::string& after,
                  std::size_t limit = 1000) override;
  std::optional<ObjectInfo> find(const std::string& bucket, const std::string& key) override;
  std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                        std::uint64_t offset = 0,
                                        std::optional<std::uint64_t> count = {}) override;
  std::optional<std::filesystem::path> find_file(const std::string& bucket,
                                                 const std::string& key) override;
  std::optional<std::vector<LocalPiece>> find_pieces(const std::string& bucket,
                                                     const std::string& key) override;
  void put_file(const std::string& bucket, const std::string& key,
                const std::filesystem::path& file, std::stop_token stop = {}) override;
  void adopt_file(const std::string& bucket, const std::string& key,
                  const std::filesystem::path& file, std::stop_token stop = {}) override;
  void put_bytes(const std::string& bucket, const std::string& key,
                 std::string_view bytes) override;
  void remove(const std::string& bucket, const std::string& key) override;

 private:
  using Bucket = std::shared_ptr<const BucketRecord>;
  struct Current {  // what o/ holds for a key
    std::optional<ObjectRecord> record;
    store::Revision revision = 0;
  };
  struct Located {  // a version, wherever it lies
    ObjectRecord record;
    std::string document_key;
    store::Revision revision = 0;
  };
  // What to commit, and what then has no name any more.
  struct Plan {
    std::vector<store::Write> writes;
    std::vector<Piece> orphans;
  };

  Bucket require_bucket(const std::string& name) const;
  std::string bucket_key(const BucketRecord& bucket) const;
  std::string family(const BucketRecord& bucket, std::string_view letter) const;
  std::string object_key(const BucketRecord& bucket, const std::string& key) const;
  std::string versions_key(const BucketRecord& bucket, const std::string& key) const;
  std::string upload_key(const BucketRecord& bucket, const std::string& key,
                         const std::string& id) const;
  std::string parts_prefix(const BucketRecord& bucket, const std::string& id) const;
  std::string part_key(const BucketRecord& bucket, const std::string& id, int number) const;
  std::string completions(const BucketRecord& bucket) const;
  std::string new_upload_id();

  void load_buckets();
  void sweep_if_unclean();
  Current current(const BucketRecord& bucket, const std::string& key);
  std::optional<Located> locate(const BucketRecord& bucket, const std::string& key,
                                const std::string& version_id);
  std::vector<Located> older(const BucketRecord& bucket, const std::string& key, std::size_t limit,
                             const std::string& after_order = "");
  std::optional<Located> null_version(const BucketRecord& bucket, const std::string& key);
  std::pair<std::string, std::string> version_starts(const BucketRecord& bucket,
                                                     const ListRequest& request);
  // Reads, plans, commits; again when somebody was faster.
  void commit_planned(const std::string& bucket,
                      const std::function<Plan(const BucketRecord&)>& plan);
  void number_version(ObjectRecord& record, const BucketRecord& bucket, const Current& current);
  // The writes that make `record` the current version.
  Plan plan_put(const BucketRecord& bucket, ObjectRecord& record,
                const WriteConditions& conditions);
  Plan plan_marker(const BucketRecord& bucket, const std::string& key, Removal& removal);
  Plan plan_remove(const BucketRecord& bucket, const std::string& key,
                   const std::string& version_id, Removal& removal);
  void promote(Plan& plan, const BucketRecord& bucket, const std::string& key,
               const std::string& without_order);
  ObjectRecord insert(const NewObject& object, ContentFiles::Received received);
  class Slot;
  struct Slots {
    std::map<std::string, std::set<int>> busy;  // part numbers being written, by upload
    std::multiset<std::string> sealed;          // uploads that are being completed
  };
  PartRecord insert_part(const NewPart& part, PartRecord record);
  PartRecord insert_own_file(const NewPart& part, ContentFiles::Received received);
  UploadRecord share_file(const NewPart& part, std::uint64_t stride);
  std::optional<Piece> find_place(const BucketRecord& bucket, const NewPart& part,
                                  std::uint64_t size);
  bool seal(const std::string& upload_id);
  void unseal(const std::string& upload_id);
  std::unique_ptr<NewContent> detach(const std::string& shared, std::vector<PartRecord>& parts);
  std::pair<UploadRecord, store::Revision> require_upload(const BucketRecord& bucket,
                                                          const std::string& key,
                                                          const std::string& id);
  std::optional<ObjectRecord> find_completed(const BucketRecord& bucket,
                                             const CompletionRequest& request);
  void remember_completed(Plan& plan, const BucketRecord& bucket, const std::string& upload_id,
                          const ObjectRecord& object);
  std::vector<PartRecord> all_parts(const BucketRecord& bucket, const std::string& upload_id);
  static void verify(const ExpectedDigests& expected, std::optional<ChecksumKind> kind,
                     const ContentFiles::Sums& sums);
  void discard(const std::vector<Piece>& pieces);
  BodyHasher::Sums sums_of_file(const std::string& id, std::optional<ChecksumKind> checksum);

  ObjectStoreSettings settings_;
  const base::Clock& clock_;
  base::Random& random_;
  std::unique_ptr<store::Store> index_;
  ContentFiles files_;
  std::atomic<std::uint64_t> last_sequence_{0};
  // Held shared while a document of a bucket is committed, exclusively while one is removed: a
  // bucket that is being removed gains no object.
  mutable std::shared_mutex bucket_mutex_;
  std::map<std::string, Bucket> buckets_;
  base::Sync<Slots> slots_;
};

}  // namespace meridian::s3
