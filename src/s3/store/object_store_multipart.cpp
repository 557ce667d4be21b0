// Multipart uploads: begun, listed, given up; see object_store_{parts,complete}.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/index_cursor.h"
#include "s3/store/key_groups.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
std::string ObjectStore::part_key(const BucketRecord& bucket, const std::string& id,
                                  int number) const {
  const auto digits = std::to_string(number);
  return parts_prefix(bucket, id) + std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') +
         digits;
}

// Ids sort by their time, so that the records of completed uploads grow old in order.
std::string ObjectStore::new_upload_id() {
  auto time = std::to_string(clock_.now().ms);
  return std::string(15 - std::min<std::size_t>(time.size(), 15), '0') + time + random_.hex(24);
}

UploadRecord ObjectStore::create_upload(const NewObject& object, bool composite_checksum) {
  if (object.key.empty() || object.key.size() > 1024)
    throw S3Error("KeyTooLongError", "Your key is too long", 400).with("MaxSizeAllowed", "1024");
  UploadRecord upload{.key = object.key,
                      .id = new_upload_id(),
                      .started = clock_.now(),
                      .metadata = object.metadata,
                      .headers = object.headers,
                      .tags = object.tags,
                      .storage_class = object.storage_class,
                      .checksum = object.checksum,
                      .composite = composite_checksum};
  commit_planned(object.bucket, [&](const BucketRecord& bucket) {
    Plan plan;
    plan.writes.push_back(
        store::put(upload_key(bucket, object.key, upload.id), to_body(upload), {}, 0));
    return plan;
  });
  return upload;
}

std::pair<UploadRecord, store::Revision> ObjectStore::require_upload(const BucketRecord& bucket,
                                                                     const std::string& key,
                                                                     const std::string& id) {
  auto document = index_->find(upload_key(bucket, key, id));
  if (!document) throw no_such_upload(id);
  return {upload_of_body(document->body), document->revision};
}

std::vector<PartRecord> ObjectStore::all_parts(const BucketRecord& bucket,
                                               const std::string& upload_id) {
  std::vector<PartRecord> parts;
  IndexCursor cursor(*index_, parts_prefix(bucket, upload_id), "", 1000);
  for (; const auto* document = cursor.here(); cursor.next())
    parts.push_back(part_of_body(document->body));
  return parts;
}

void ObjectStore::abort_upload(const std::string& bucket_name, const std::string& key,
                               const std::string& upload_id) {
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    const auto [upload, revision] = require_upload(bucket, key, upload_id);
    Plan plan;
    plan.writes.push_back(store::remove(upload_key(bucket, key, upload_id), revision));
    for (const auto& part : all_parts(bucket, upload_id)) {
      plan.writes.push_back(store::remove(part_key(bucket, upload_id, part.number)));
      plan.orphans.push_back(part.piece);
    }
    if (!upload.file.empty()) plan.orphans.push_back({.id = upload.file});
    return plan;
  });
}

UploadListing ObjectStore::list_uploads(const std::string& bucket_name, const std::string& prefix,
                                        const std::string& delimiter, const std::string& after_key,
                                        const std::string& after_id, std::size_t limit) {
  const auto bucket = require_bucket(bucket_name);
  const auto uploads = family(*bucket, "u");
  const KeyGroups groups(prefix, delimiter);
  std::string start;
  if (groups.is_group(after_key))
    start = uploads + groups.resume_after(after_key);
  else if (!after_key.empty())
    start = uploads + escape_key(after_key) + '\0' + (after_id.empty() ? "\xff" : after_id);
  UploadListing listing;
  IndexCursor cursor(*index_, uploads + escape_key(prefix), start, 100);
  while (const auto* document = cursor.here()) {
    if (listing.uploads.size() + listing.common_prefixes.size() >= limit) {
      listing.truncated = limit > 0;
      break;
    }
    auto upload = upload_of_body(document->body);
    if (auto group = groups.group_of(upload.key)) {
      cursor.jump(after_prefix(uploads + escape_key(*group)));
      listing.next_key = *group;
      listing.next_id.clear();
      listing.common_prefixes.push_back(std::move(*group));
      continue;
    }
    listing.next_key = upload.key;
    listing.next_id = upload.id;
    listing.uploads.push_back(std::move(upload));
    cursor.next();
  }
  return listing;
}

PartListing ObjectStore::list_parts(const std::string& bucket_name, const std::string& key,
                                    const std::string& upload_id, int after, std::size_t limit) {
  const auto bucket = require_bucket(bucket_name);
  PartListing listing{.upload = require_upload(*bucket, key, upload_id).first};
  const auto prefix = parts_prefix(*bucket, upload_id);
  IndexCursor cursor(*index_, prefix, after > 0 ? part_key(*bucket, upload_id, after) : "",
                     limit + 1);
  for (; const auto* document = cursor.here(); cursor.next()) {
    if (listing.parts.size() >= limit) {
      listing.truncated = limit > 0;
      break;
    }
    listing.parts.push_back(part_of_body(document->body));
  }
  return listing;
}

}  // namespace meridian::s3
