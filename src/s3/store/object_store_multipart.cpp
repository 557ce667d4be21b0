// Multipart uploads. A completed object is the list of its parts' files.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/index_cursor.h"
#include "s3/store/key_groups.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t smallest_part = 5u << 20;  // but for the last
constexpr std::uint64_t largest_part = std::uint64_t{5} << 30;
constexpr std::uint64_t largest_object = std::uint64_t{5} << 40;

std::string number_text(int number) {
  auto digits = std::to_string(number);
  return std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
}

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

std::string composite_etag(const std::vector<PartRecord>& parts) {
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

}  // namespace

UploadRecord ObjectStore::create_upload(const NewObject& object, bool composite_checksum) {
  if (object.key.empty() || object.key.size() > 1024)
    throw S3Error("KeyTooLongError", "Your key is too long", 400).with("MaxSizeAllowed", "1024");
  UploadRecord upload{.key = object.key,
                      .id = random_.hex(32),
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

PartRecord ObjectStore::insert_part(const NewPart& part, ContentFiles::Received received) {
  PartRecord record{.number = part.number,
                    .piece = {received.content.id(), received.size, received.checksum.value_or("")},
                    .etag = received.md5};
  commit_planned(part.bucket, [&](const BucketRecord& bucket) {
    const auto [upload, revision] = require_upload(bucket, part.key, part.upload_id);
    record.modified = clock_.now();
    const auto key = parts_prefix(bucket, part.upload_id) + number_text(part.number);
    const auto before = index_->find(key);
    Plan plan;
    plan.writes.push_back(store::check(upload_key(bucket, part.key, part.upload_id), revision));
    plan.writes.push_back(store::put(key, to_body(record), {}, before ? before->revision : 0));
    if (before) plan.orphans.push_back(part_of_body(before->body).piece);
    return plan;
  });
  received.content.keep();
  return record;
}

PartRecord ObjectStore::put_part(const NewPart& part, net::BodyReader& body) {
  const auto bucket = require_bucket(part.bucket);
  const auto upload = require_upload(*bucket, part.key, part.upload_id).first;
  // The upload's own algorithm counts; a client may leave the value of each part to us.
  auto received =
      files_.receive(body, upload.checksum ? upload.checksum : part.checksum, largest_part);
  if (part.content_md5 && base::hex(*part.content_md5) != received.md5)
    throw bad_digest("Content-MD5");
  auto expected = part.checksum_value;
  if (!expected && part.trailing_checksum) expected = part.trailing_checksum();
  if (expected && upload.checksum && part.checksum != upload.checksum)
    throw S3Error("InvalidRequest",
                  "Checksum Type mismatch occurred, expected checksum Type: " +
                      std::string(name(*upload.checksum)) +
                      ", actual checksum Type: " + std::string(name(*part.checksum)),
                  400);
  if (expected && received.checksum && *expected != *received.checksum)
    throw bad_digest(std::string(name(*part.checksum)));
  return insert_part(part, std::move(received));
}

PartRecord ObjectStore::copy_part(const NewPart& part, const HeldObject& source,
                                  std::uint64_t offset, std::uint64_t count) {
  const auto bucket = require_bucket(part.bucket);
  const auto upload = require_upload(*bucket, part.key, part.upload_id).first;
  std::vector<Slice> slices;
  std::uint64_t skip = offset, left = count;
  for (const auto& piece : source.record.pieces) {
    if (skip >= piece.size) {
      skip -= piece.size;
      continue;
    }
    const auto take = std::min(left, piece.size - skip);
    if (take > 0) slices.push_back({piece.id, skip, take});
    left -= take;
    skip = 0;
  }
  const bool whole_file = source.record.pieces.size() == 1 && count == source.record.size;
  ContentFiles::Received received{
      whole_file ? files_.duplicate(source.record.pieces[0].id) : files_.copy_ranges(slices), count,
      whole_file && !source.record.multipart ? source.record.etag : "", std::nullopt};
  if (received.md5.empty() || upload.checksum) {
    auto sums = sums_of_file(received.content.id(), upload.checksum);
    received.md5 = std::move(sums.md5);
    received.checksum = std::move(sums.checksum);
  }
  return insert_part(part, std::move(received));
}

std::vector<PartRecord> ObjectStore::all_parts(const BucketRecord& bucket,
                                               const std::string& upload_id) {
  std::vector<PartRecord> parts;
  IndexCursor cursor(*index_, parts_prefix(bucket, upload_id), "", 1000);
  for (; const auto* document = cursor.here(); cursor.next())
    parts.push_back(part_of_body(document->body));
  return parts;
}

ObjectRecord ObjectStore::complete_upload(const std::string& bucket_name, const std::string& key,
                                          const std::string& upload_id,
                                          const std::vector<CompletedPart>& parts,
                                          const WriteConditions& conditions,
                                          std::optional<std::string> checksum_value) {
  ObjectRecord record;
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    const auto [upload, revision] = require_upload(bucket, key, upload_id);
    check_order(parts);
    const auto uploaded = all_parts(bucket, upload_id);
    record = assemble(upload, choose(parts, uploaded));
    if (record.size > largest_object)
      throw S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400);
    if (checksum_value && record.checksum && *checksum_value != record.checksum->value)
      throw bad_digest(std::string(name(record.checksum->kind)));
    record.modified = clock_.now();
    auto plan = plan_put(bucket, record, conditions);
    plan.writes.push_back(store::remove(upload_key(bucket, key, upload_id), revision));
    std::set<int> used;
    for (const auto& part : parts) used.insert(part.number);
    for (const auto& part : uploaded) {
      plan.writes.push_back(
          store::remove(parts_prefix(bucket, upload_id) + number_text(part.number)));
      if (!used.contains(part.number)) plan.orphans.push_back(part.piece);
    }
    return plan;
  });
  return record;
}

void ObjectStore::abort_upload(const std::string& bucket_name, const std::string& key,
                               const std::string& upload_id) {
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    const auto [upload, revision] = require_upload(bucket, key, upload_id);
    Plan plan;
    plan.writes.push_back(store::remove(upload_key(bucket, key, upload_id), revision));
    for (const auto& part : all_parts(bucket, upload_id)) {
      plan.writes.push_back(
          store::remove(parts_prefix(bucket, upload_id) + number_text(part.number)));
      plan.orphans.push_back(part.piece);
    }
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
  IndexCursor cursor(*index_, prefix, after > 0 ? prefix + number_text(after) : "", limit + 1);
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
