// The end of a multipart upload: the object becomes the list of its parts, where they lie.
//
// What was completed is remembered for a day, so that a client that missed the answer and asks
// again gets the same one.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t smallest_part = 5u << 20;  // but for the last
constexpr std::uint64_t largest_object = std::uint64_t{5} << 40;
constexpr base::Duration remembered = std::chrono::hours(24);
// Each completion forgets more than it adds, so that the records do not pile up.
constexpr std::size_t forgotten_at_once = 4;

S3Error invalid_part(const CompletedPart& part) {
  return S3Error(
             "InvalidPart",
             "One or more of the specified parts could not be found. The part may not have been "
             "uploaded, or the specified entity tag may not match the part's entity tag.",
             400)
      .with("PartNumber", std::to_string(part.number))
      .with("ETag", part.etag);
}

void check_order(const std::vector<CompletedPart>& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].number <= parts[i - 1].number)
      throw S3Error("InvalidPartOrder",
                    "The list of parts was not in ascending order. Parts must be ordered by part "
                    "number.",
                    400);
  }
}

// The parts that were asked for, checked against those that were uploaded.
std::vector<PartRecord> choose(const std::vector<CompletedPart>& wanted,
                               const std::vector<PartRecord>& uploaded) {
  std::map<int, const PartRecord*> by_number;
  for (const auto& part : uploaded) by_number[part.number] = &part;
  std::vector<PartRecord> chosen;
  for (const auto& part : wanted) {
    const auto found = by_number.find(part.number);
    if (found == by_number.end() || found->second->etag != part.etag) throw invalid_part(part);
    if (part.checksum && *part.checksum != found->second->piece.checksum) throw invalid_part(part);
    chosen.push_back(*found->second);
  }
  for (std::size_t i = 0; i + 1 < chosen.size(); ++i) {
    if (chosen[i].piece.size >= smallest_part) continue;
    throw S3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size",
                  400)
        .with("ProposedSize", std::to_string(chosen[i].piece.size))
        .with("MinSizeAllowed", std::to_string(smallest_part))
        .with("PartNumber", std::to_string(chosen[i].number))
        .with("ETag", chosen[i].etag);
  }
  return chosen;
}

// Of PartRecord or CompletedPart alike.
template <class Part>
std::string composite_etag(const std::vector<Part>& parts) {
  std::string raw;
  for (const auto& part : parts) raw += base::unhex(part.etag).value_or("");
  return base::md5_hex(raw) + "-" + std::to_string(parts.size());
}

std::optional<Checksum> checksum_of_parts(const UploadRecord& upload,
                                          const std::vector<PartRecord>& parts) {
  if (!upload.checksum) return std::nullopt;
  std::vector<PartChecksum> sums;
  for (const auto& part : parts) {
    if (part.piece.checksum.empty()) return std::nullopt;
    sums.push_back({part.piece.checksum, part.piece.size});
  }
  return Checksum{*upload.checksum,
                  upload.composite ? composite_checksum(*upload.checksum, sums)
                                   : full_object_checksum(*upload.checksum, sums),
                  upload.composite};
}

ObjectRecord assemble(const UploadRecord& upload, const std::vector<PartRecord>& parts) {
  ObjectRecord record{.key = upload.key,
                      .etag = composite_etag(parts),
                      .multipart = true,
                      .metadata = upload.metadata,
                      .headers = upload.headers,
                      .tags = upload.tags,
                      .storage_class = upload.storage_class,
                      .checksum = checksum_of_parts(upload, parts)};
  for (const auto& part : parts) {
    record.size += part.piece.size;
    record.pieces.push_back(part.piece);
  }
  return record;
}

// What the request says about the whole object must be so.
void check_claims(const CompletionRequest& request, const ObjectRecord& record) {
  if (record.size > largest_object)
    throw S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400);
  if (request.size && *request.size != record.size)
    throw S3Error("InvalidRequest",
                  "The provided 'x-amz-mp-object-size' header does not match what was uploaded: " +
                      std::to_string(record.size) + " bytes",
                  400);
  if (!request.checksum) return;
  if (!record.checksum || record.checksum->kind != *request.checksum_kind)
    throw S3Error("InvalidRequest",
                  "The upload was not created with the checksum algorithm '" +
                      std::string(name(*request.checksum_kind)) + "'",
                  400);
  const auto& value = record.checksum->value;
  if (*request.checksum != value && *request.checksum != value.substr(0, value.find('-')))
    throw bad_digest(std::string(name(*request.checksum_kind)));
}

}  // namespace

std::string ObjectStore::completions(const BucketRecord& bucket) const {
  return bucket.account + "/" + bucket.region + "/s3/c/";
}

// The object that this very request made before, if it did.
std::optional<ObjectRecord> ObjectStore::find_completed(const BucketRecord& bucket,
                                                        const CompletionRequest& request) {
  const auto document = index_->find(completions(bucket) + request.upload_id);
  if (!document) return std::nullopt;
  auto completed = completed_of_body(document->body);
  const bool same = completed.bucket == bucket.name && completed.bucket_created == bucket.created &&
                    completed.object.key == request.key &&
                    completed.object.etag == composite_etag(request.parts);
  if (!same) return std::nullopt;
  return std::move(completed.object);
}

// Remembers this completion and forgets old ones, in the order of their uploads.
void ObjectStore::remember_completed(Plan& plan, const BucketRecord& bucket,
                                     const std::string& upload_id, const ObjectRecord& object) {
  CompletedUpload completed{.bucket = bucket.name,
                            .bucket_created = bucket.created,
                            .at = clock_.now(),
                            .object = object};
  completed.object.pieces.clear();
  plan.writes.push_back(store::put(completions(bucket) + upload_id, to_body(completed)));
  const auto oldest = index_->list({.prefix = completions(bucket), .limit = forgotten_at_once});
  for (const auto& document : oldest.documents) {
    if (clock_.now() - completed_of_body(document.body).at < remembered) continue;
    plan.writes.push_back(store::remove(document.key));
  }
}

// What of the shared file is listed, in a file of its own: somebody still writes to the shared one.
std::unique_ptr<NewContent> ObjectStore::detach(const std::string& shared,
                                                std::vector<PartRecord>& parts) {
  std::vector<Slice> slices;
  for (const auto& part : parts) {
    if (part.piece.id == shared) slices.push_back({shared, part.piece.offset, part.piece.size});
  }
  if (slices.empty()) return nullptr;
  auto copy = std::make_unique<NewContent>(files_.copy_ranges(slices));
  std::uint64_t end = 0;
  for (auto& part : parts) {
    if (part.piece.id != shared) continue;
    part.piece.id = copy->id();
    part.piece.offset = end;
    end += part.piece.size;
  }
  return copy;
}

ObjectRecord ObjectStore::complete_upload(const CompletionRequest& request) {
  struct Seal {
    ObjectStore& store;
    const std::string& upload_id;
    const bool done = store.seal(upload_id);
    ~Seal() {
      if (done) store.unseal(upload_id);
    }
  } const seal{*this, request.upload_id};
  ObjectRecord record;
  std::unique_ptr<NewContent> detached;
  commit_planned(request.bucket, [&](const BucketRecord& bucket) {
    const auto upload_document = upload_key(bucket, request.key, request.upload_id);
    const auto found = index_->find(upload_document);
    if (!found) {
      auto before = find_completed(bucket, request);
      if (!before) throw no_such_upload(request.upload_id);
      record = std::move(*before);
      return Plan{};
    }
    check_order(request.parts);
    const auto upload = upload_of_body(found->body);
    const auto uploaded = all_parts(bucket, request.upload_id);
    auto chosen = choose(request.parts, uploaded);
    if (!seal.done) detached = detach(upload.file, chosen);
    record = assemble(upload, chosen);
    check_claims(request, record);
    record.modified = clock_.now();
    auto plan = plan_put(bucket, record, request.conditions);
    plan.writes.push_back(store::remove(upload_document, found->revision));
    std::set<int> used;
    for (const auto& part : request.parts) used.insert(part.number);
    for (const auto& part : uploaded) {
      plan.writes.push_back(store::remove(part_key(bucket, request.upload_id, part.number)));
      if (!used.contains(part.number) && part.piece.id != upload.file)
        plan.orphans.push_back(part.piece);
    }
    const bool shares = std::any_of(record.pieces.begin(), record.pieces.end(),
                                    [&](const Piece& piece) { return piece.id == upload.file; });
    if (!upload.file.empty() && !shares) plan.orphans.push_back({.id = upload.file});
    remember_completed(plan, bucket, request.upload_id, record);
    return plan;
  });
  if (detached) detached->keep();
  return record;
}

}  // namespace meridian::s3
