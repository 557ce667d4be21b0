// Puts, copies and removals: each is planned from what is there and committed in one transaction.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t largest_put = std::uint64_t{5} << 30;

void check_conditions(const WriteConditions& conditions, const std::optional<ObjectRecord>& there,
                      const std::string& key) {
  if (conditions.if_none_match_any && there) throw precondition_failed("If-None-Match");
  if (!conditions.if_match) return;
  if (!there) throw no_such_key(key);
  if (*conditions.if_match != "*" && *conditions.if_match != there->etag)
    throw precondition_failed("If-Match");
}

void append(std::vector<Piece>& to, const std::vector<Piece>& pieces) {
  to.insert(to.end(), pieces.begin(), pieces.end());
}

void check_key(const std::string& key) {
  if (key.empty()) throw invalid_argument("Object key may not be empty", "Key", key);
  if (key.size() > 1024)
    throw S3Error("KeyTooLongError", "Your key is too long", 400)
        .with("Size", std::to_string(key.size()))
        .with("MaxSizeAllowed", "1024");
  if (!base::is_valid_utf8(key))
    throw S3Error("InvalidURI", "Couldn't parse the specified URI: the key is not UTF-8.", 400);
}

}  // namespace

void ObjectStore::commit_planned(const std::string& bucket_name,
                                 const std::function<Plan(const BucketRecord&)>& make_plan) {
  while (true) {
    Plan plan;
    {
      std::shared_lock lock(bucket_mutex_);
      const auto found = buckets_.find(bucket_name);
      if (found == buckets_.end()) throw no_such_bucket(bucket_name);
      plan = make_plan(*found->second);
      if (plan.writes.empty()) return;
      if (!index_->commit(std::move(plan.writes)).ok())
        continue;  // somebody was faster: look again
    }
    discard(plan.orphans);
    return;
  }
}

void ObjectStore::discard(const std::vector<Piece>& pieces) {
  std::set<std::string> ids;  // pieces may share a file
  for (const auto& piece : pieces) {
    if (ids.insert(piece.id).second) files_.remove(piece.id);
  }
}

// Orders follow the clock but never repeat or go back, whatever the clock does.
void ObjectStore::number_version(ObjectRecord& record, const BucketRecord& bucket,
                                 const Current& now) {
  std::uint64_t newest = 0;
  if (now.record) {
    newest = sequence_of(now.record->order);
  } else if (bucket.versioning != Versioning::off) {
    if (const auto versions = older(bucket, record.key, 1); !versions.empty())
      newest = sequence_of(versions[0].record.order);
  }
  const auto by_clock = static_cast<std::uint64_t>(clock_.now().ms) << 16;
  auto last = last_sequence_.load();
  std::uint64_t next = 0;
  do {
    next = std::max({by_clock, last + 1, newest + 1});
  } while (!last_sequence_.compare_exchange_weak(last, next));
  record.order = version_order(next);
  record.version_id =
      bucket.versioning == Versioning::enabled ? record.order + random_.hex(8) : "null";
}

ObjectStore::Plan ObjectStore::plan_put(const BucketRecord& bucket, ObjectRecord& record,
                                        const WriteConditions& conditions) {
  const auto now = current(bucket, record.key);
  check_conditions(conditions, now.record, record.key);
  number_version(record, bucket, now);
  Plan plan;
  plan.writes.push_back(
      store::put(object_key(bucket, record.key), to_body(record), {}, now.revision));
  const bool replaces =
      now.record && record.version_id == "null" && now.record->version_id == "null";
  if (replaces) {
    append(plan.orphans, now.record->pieces);
  } else if (now.record) {
    plan.writes.push_back(
        store::put(versions_key(bucket, record.key) + now.record->order, to_body(*now.record)));
  }
  if (bucket.versioning == Versioning::suspended && !replaces) {
    if (auto old = null_version(bucket, record.key)) {
      plan.writes.push_back(store::remove(old->document_key, old->revision));
      append(plan.orphans, old->record.pieces);
    }
  }
  return plan;
}

ObjectRecord ObjectStore::insert(const NewObject& object, ContentFiles::Received received) {
  ObjectRecord record{.key = object.key,
                      .size = received.size,
                      .etag = received.md5,
                      .pieces = {{received.content.id(), received.size, ""}},
                      .metadata = object.metadata,
                      .headers = object.headers,
                      .tags = object.tags,
                      .storage_class = object.storage_class};
  if (received.checksum) record.checksum = Checksum{*object.checksum, *received.checksum, false};
  commit_planned(object.bucket, [&](const BucketRecord& bucket) {
    record.modified = clock_.now();
    return plan_put(bucket, record, object.conditions);
  });
  received.content.keep();
  return record;
}

// `kind`: of the checksum that was computed.
void ObjectStore::verify(const ExpectedDigests& expected, std::optional<ChecksumKind> kind,
                         const ContentFiles::Sums& sums) {
  if (expected.md5 && base::hex(*expected.md5) != sums.md5) throw bad_digest("Content-MD5");
  auto checksum = expected.checksum;
  if (!checksum && expected.trailing_checksum) checksum = expected.trailing_checksum();
  if (!checksum) return;
  if (kind != expected.kind)
    throw S3Error("InvalidRequest",
                  "Checksum Type mismatch occurred, expected checksum Type: " +
                      std::string(kind ? name(*kind) : "null") +
                      ", actual checksum Type: " + std::string(name(*expected.kind)),
                  400);
  if (sums.checksum && *checksum != *sums.checksum) throw bad_digest(std::string(name(*kind)));
}

ObjectRecord ObjectStore::put(const NewObject& object, net::BodyReader& body) {
  require_bucket(object.bucket);
  check_key(object.key);
  auto received = files_.receive(body, object.checksum, largest_put);
  verify(object.expected, object.checksum, {received.size, received.md5, received.checksum});
  return insert(object, std::move(received));
}

std::vector<Slice> slices_of(const std::vector<Piece>& pieces, std::uint64_t offset,
                             std::uint64_t count) {
  std::vector<Slice> slices;
  for (const auto& piece : pieces) {
    if (offset >= piece.size) {
      offset -= piece.size;
      continue;
    }
    const auto take = std::min(count, piece.size - offset);
    if (take > 0) slices.push_back({piece.id, piece.offset + offset, take});
    count -= take;
    offset = 0;
  }
  return slices;
}

ObjectRecord ObjectStore::copy(const HeldObject& source, const NewObject& target) {
  check_key(target.key);
  const auto& from = source.record;
  ContentFiles::Received received{source.file
                                      ? files_.duplicate(from.pieces[0].id)
                                      : files_.copy_ranges(slices_of(from.pieces, 0, from.size)),
                                  from.size, from.etag, std::nullopt};
  NewObject object = target;
  const bool keeps_checksum = from.checksum && !from.checksum->composite &&
                              object.checksum.value_or(from.checksum->kind) == from.checksum->kind;
  if (keeps_checksum) {
    object.checksum = from.checksum->kind;
    received.checksum = from.checksum->value;
  }
  // One file now, so the ETag is that of one put: AWS recomputes it as well.
  if (from.multipart || (object.checksum && !keeps_checksum)) {
    auto sums = sums_of_file(received.content.id(), object.checksum);
    received.md5 = std::move(sums.md5);
    received.checksum = std::move(sums.checksum);
  }
  return insert(object, std::move(received));
}

BodyHasher::Sums ObjectStore::sums_of_file(const std::string& id,
                                           std::optional<ChecksumKind> checksum) {
  auto file = files_.open(id);
  if (!file) throw base::Error(base::Code::internal, "object content is missing");
  BodyHasher hasher(checksum, 512u << 10);
  while (true) {
    auto buffer = hasher.take_buffer();
    const auto n = ::read(file->get(), buffer.data(), buffer.size());
    if (n < 0) throw base::errno_error(errno, "reading object content");
    if (n == 0) return hasher.finish();
    buffer.resize(static_cast<std::size_t>(n));
    hasher.add(std::move(buffer));
    hasher.written();
  }
}

// Makes the newest remaining version current, unless it is a delete marker.
void ObjectStore::promote(Plan& plan, const BucketRecord& bucket, const std::string& key,
                          const std::string& without_order) {
  for (const auto& version : older(bucket, key, 2)) {
    if (version.record.order == without_order) continue;
    if (version.record.delete_marker) return;
    plan.writes.push_back(store::remove(version.document_key, version.revision));
    plan.writes.push_back(store::put(object_key(bucket, key), to_body(version.record)));
    return;
  }
}

ObjectStore::Plan ObjectStore::plan_marker(const BucketRecord& bucket, const std::string& key,
                                           Removal& removal) {
  const auto now = current(bucket, key);
  ObjectRecord marker{.key = key, .modified = clock_.now(), .delete_marker = true};
  number_version(marker, bucket, now);
  removal = {marker.version_id, true};
  Plan plan;
  const auto versions = versions_key(bucket, key);
  const bool replaces =
      marker.version_id == "null" && now.record && now.record->version_id == "null";
  if (now.record)
    plan.writes.push_back(store::remove(object_key(bucket, key), now.revision));
  else
    plan.writes.push_back(store::check(object_key(bucket, key), 0));
  if (replaces)
    append(plan.orphans, now.record->pieces);
  else if (now.record)
    plan.writes.push_back(store::put(versions + now.record->order, to_body(*now.record)));
  if (marker.version_id == "null" && !replaces) {
    if (auto old = null_version(bucket, key)) {
      plan.writes.push_back(store::remove(old->document_key, old->revision));
      append(plan.orphans, old->record.pieces);
    }
  }
  plan.writes.push_back(store::put(versions + marker.order, to_body(marker)));
  return plan;
}

ObjectStore::Plan ObjectStore::plan_remove(const BucketRecord& bucket, const std::string& key,
                                           const std::string& version_id, Removal& removal) {
  removal = {version_id, false};
  Plan plan;
  const auto located = locate(bucket, key, version_id);
  if (!located) return plan;
  removal.delete_marker = located->record.delete_marker;
  append(plan.orphans, located->record.pieces);
  const auto now = object_key(bucket, key);
  if (located->document_key == now) {
    if (bucket.versioning != Versioning::off) promote(plan, bucket, key, "");
    // A promoted version takes the document's place: nothing to remove then, only to compare.
    if (plan.writes.empty())
      plan.writes.push_back(store::remove(now, located->revision));
    else
      plan.writes.back().expect = located->revision;
    return plan;
  }
  plan.writes.push_back(store::remove(located->document_key, located->revision));
  if (located->record.delete_marker && !current(bucket, key).record) {
    const auto newest = older(bucket, key, 1);
    if (!newest.empty() && newest[0].record.order == located->record.order) {
      promote(plan, bucket, key, located->record.order);
      if (plan.writes.size() > 1) plan.writes.back().expect = 0;
    }
  }
  return plan;
}

Removal ObjectStore::remove_version(const std::string& bucket_name, const std::string& key,
                                    const std::string& version_id) {
  check_key(key);
  Removal removal;
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    if (version_id.empty() && bucket.versioning != Versioning::off)
      return plan_marker(bucket, key, removal);
    return plan_remove(bucket, key, version_id, removal);
  });
  return removal;
}

bool ObjectStore::expire(const std::string& bucket_name, const VersionSeen& seen) {
  const auto version = seen.how == Expiry::current ? "" : seen.version_id;
  bool removed = false;
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    const auto located = locate(bucket, seen.key, version);
    removed = located && located->record.order == seen.order;
    if (!removed) return Plan{};
    Removal ignored;
    return version.empty() && bucket.versioning != Versioning::off
               ? plan_marker(bucket, seen.key, ignored)
               : plan_remove(bucket, seen.key, version, ignored);
  });
  return removed;
}

ObjectRecord ObjectStore::set_tags(const std::string& bucket_name, const std::string& key,
                                   const std::string& version_id, Fields tags) {
  ObjectRecord changed;
  commit_planned(bucket_name, [&](const BucketRecord& bucket) {
    auto located = locate(bucket, key, version_id);
    if (!located || located->record.delete_marker) {
      if (version_id.empty()) throw no_such_key(key);
      throw no_such_version(key, version_id);
    }
    changed = located->record;
    changed.tags = tags;
    Plan plan;
    plan.writes.push_back(
        store::put(located->document_key, to_body(changed), {}, located->revision));
    return plan;
  });
  return changed;
}

}  // namespace meridian::s3
