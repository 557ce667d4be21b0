// Parts of multipart uploads.
//
// Parts of one size, but for the last, are written into one file, each at its place: the completed
// object is then a file like any other, which can be linked when it is staged. A part that does not
// fit, or that comes a second time, gets a file of its own.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t largest_part = std::uint64_t{5} << 30;
// Smaller ones can only be the last, which says nothing about the size of the others.
constexpr std::uint64_t smallest_stride = 5u << 20;
constexpr std::uint64_t largest_file = std::uint64_t{5} << 40;

}  // namespace

// One part's place in the shared file. While it lives nobody else writes there, and the upload is
// not completed into that file.
class ObjectStore::Slot {
 public:
  Slot(ObjectStore& store, std::string upload_id, int number)
      : store_(store), upload_id_(std::move(upload_id)), number_(number) {
    auto slots = store_.slots_.lock();
    taken_ = !slots->sealed.contains(upload_id_) && slots->busy[upload_id_].insert(number_).second;
    if (!taken_) forget_if_empty(*slots);
  }
  ~Slot() {
    auto slots = store_.slots_.lock();
    if (taken_) slots->busy[upload_id_].erase(number_);
    forget_if_empty(*slots);
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  bool taken() const { return taken_; }

 private:
  void forget_if_empty(Slots& slots) {
    const auto found = slots.busy.find(upload_id_);
    if (found != slots.busy.end() && found->second.empty()) slots.busy.erase(found);
  }

  ObjectStore& store_;
  const std::string upload_id_;
  const int number_;
  bool taken_ = false;
};

PartRecord ObjectStore::insert_part(const NewPart& part, PartRecord record) {
  commit_planned(part.bucket, [&](const BucketRecord& bucket) {
    const auto [upload, revision] = require_upload(bucket, part.key, part.upload_id);
    record.modified = clock_.now();
    const auto key = part_key(bucket, part.upload_id, part.number);
    const auto before = index_->find(key);
    Plan plan;
    plan.writes.push_back(store::check(upload_key(bucket, part.key, part.upload_id), revision));
    plan.writes.push_back(store::put(key, to_body(record), {}, before ? before->revision : 0));
    if (before) {
      auto piece = part_of_body(before->body).piece;
      if (piece.id != upload.file) plan.orphans.push_back(std::move(piece));
    }
    return plan;
  });
  return record;
}

// Gives the upload a shared file for parts of that size, unless it has one.
UploadRecord ObjectStore::share_file(const NewPart& part, std::uint64_t stride) {
  auto content = files_.reserve();
  UploadRecord upload;
  bool used = false;
  commit_planned(part.bucket, [&](const BucketRecord& bucket) {
    store::Revision revision = 0;
    std::tie(upload, revision) = require_upload(bucket, part.key, part.upload_id);
    used = upload.file.empty();
    if (!used) return Plan{};
    upload.file = content.id();
    upload.stride = stride;
    Plan plan;
    plan.writes.push_back(
        store::put(upload_key(bucket, part.key, part.upload_id), to_body(upload), {}, revision));
    return plan;
  });
  if (used) content.keep();
  return upload;
}

// Where in the shared file the part goes; nothing when it needs a file of its own.
std::optional<Piece> ObjectStore::find_place(const BucketRecord& bucket, const NewPart& part,
                                             std::uint64_t size) {
  auto upload = require_upload(bucket, part.key, part.upload_id).first;
  if (upload.file.empty() && size >= smallest_stride) upload = share_file(part, size);
  if (upload.file.empty() || size == 0 || size > upload.stride) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(part.number - 1) * upload.stride;
  if (offset + size > largest_file) return std::nullopt;
  // What was acknowledged is never written over.
  if (index_->find(part_key(bucket, part.upload_id, part.number))) return std::nullopt;
  return Piece{.id = upload.file, .size = size, .offset = offset};
}

PartRecord ObjectStore::put_part(const NewPart& part, net::BodyReader& body) {
  const auto bucket = require_bucket(part.bucket);
  const auto upload = require_upload(*bucket, part.key, part.upload_id).first;
  // The upload's own algorithm counts; a client may leave the value of each part to us.
  const auto kind = upload.checksum ? upload.checksum : part.expected.kind;
  if (const auto size = body.length(); size && *size <= largest_part) {
    const Slot slot(*this, part.upload_id, part.number);
    auto place = slot.taken() ? find_place(*bucket, part, *size) : std::nullopt;
    if (place) {
      const auto sums = files_.receive_at(place->id, place->offset, *size, body, kind);
      verify(part.expected, kind, sums);
      place->checksum = sums.checksum.value_or("");
      return insert_part(part, {.number = part.number, .piece = *place, .etag = sums.md5});
    }
  }
  auto received = files_.receive(body, kind, largest_part);
  verify(part.expected, kind, {received.size, received.md5, received.checksum});
  return insert_own_file(part, std::move(received));
}

PartRecord ObjectStore::insert_own_file(const NewPart& part, ContentFiles::Received received) {
  auto record = insert_part(
      part, {.number = part.number,
             .piece = {received.content.id(), received.size, received.checksum.value_or("")},
             .etag = received.md5});
  received.content.keep();
  return record;
}

PartRecord ObjectStore::copy_part(const NewPart& part, const HeldObject& source,
                                  std::uint64_t offset, std::uint64_t count) {
  const auto bucket = require_bucket(part.bucket);
  const auto upload = require_upload(*bucket, part.key, part.upload_id).first;
  const bool whole_file = source.file && count == source.record.size;
  ContentFiles::Received received{
      whole_file ? files_.duplicate(source.record.pieces[0].id)
                 : files_.copy_ranges(slices_of(source.record.pieces, offset, count)),
      count, whole_file && !source.record.multipart ? source.record.etag : "", std::nullopt};
  if (received.md5.empty() || upload.checksum) {
    auto sums = sums_of_file(received.content.id(), upload.checksum);
    received.md5 = std::move(sums.md5);
    received.checksum = std::move(sums.checksum);
  }
  return insert_own_file(part, std::move(received));
}

// Completes into the shared file only if nobody writes to it, and nobody will.
bool ObjectStore::seal(const std::string& upload_id) {
  auto slots = slots_.lock();
  if (slots->busy.contains(upload_id)) return false;
  slots->sealed.insert(upload_id);
  return true;
}

void ObjectStore::unseal(const std::string& upload_id) {
  auto slots = slots_.lock();
  slots->sealed.erase(slots->sealed.find(upload_id));
}

}  // namespace meridian::s3
