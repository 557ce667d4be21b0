// Listings of current objects and of all versions.
//
// SPDX-License-Identifier: Apache-2.0
#include "s3/error.h"
#include "s3/store/index_cursor.h"
#include "s3/store/key_groups.h"
#include "s3/store/object_store.h"

namespace meridian::s3 {
namespace {

// Collects until the limit; says when the listing is full.
class Collector {
 public:
  Collector(Listing& listing, std::size_t limit) : listing_(listing), limit_(limit) {}

  // False: there is no room for one more, and the listing is truncated.
  bool has_room() {
    const bool room = count_ < limit_;
    if (!room) listing_.truncated = count_ > 0;
    return room;
  }
  void add_prefix(std::string prefix) {
    ++count_;
    listing_.next = prefix;
    listing_.next_version.clear();
    listing_.common_prefixes.push_back(std::move(prefix));
  }
  void add(ObjectRecord record) {
    ++count_;
    listing_.next = record.key;
    listing_.next_version = record.version_id;
    listing_.objects.push_back(std::move(record));
  }

 private:
  Listing& listing_;
  std::size_t limit_, count_ = 0;
};

// A document of o/ or v/ as a key (and the order of a version).
struct Place {
  std::string key, order;
};

Place place_of(const store::Document& document, std::size_t family_size) {
  const std::string_view rest = std::string_view(document.key).substr(family_size);
  const auto zero = rest.find('\0');
  if (zero == std::string_view::npos) return {unescape_key(rest), ""};
  return {unescape_key(rest.substr(0, zero)), std::string(rest.substr(zero + 1))};
}

}  // namespace

Listing ObjectStore::list_objects(const ListRequest& request) {
  const auto bucket = require_bucket(request.bucket);
  const auto objects = family(*bucket, "o");
  const KeyGroups groups(request.prefix, request.delimiter);
  Listing listing;
  Collector collect(listing, request.limit);
  IndexCursor cursor(*index_, objects + escape_key(request.prefix),
                     request.after.empty() ? "" : objects + groups.resume_after(request.after),
                     request.delimiter.empty() ? request.limit + 1 : 100);
  while (const auto* document = cursor.here()) {
    if (!collect.has_room()) break;
    auto key = place_of(*document, objects.size()).key;
    if (auto group = groups.group_of(key)) {
      cursor.jump(after_prefix(objects + escape_key(*group)));
      collect.add_prefix(std::move(*group));
      continue;
    }
    collect.add(object_of_body(document->body, std::move(key)));
    cursor.next();
  }
  return listing;
}

// Where o/ and v/ continue: behind the key, or behind the one version of it that was listed last.
std::pair<std::string, std::string> ObjectStore::version_starts(const BucketRecord& bucket,
                                                                const ListRequest& request) {
  if (request.after.empty()) return {};
  const KeyGroups groups(request.prefix, request.delimiter);
  const auto resume = groups.resume_after(request.after);
  const auto object = family(bucket, "o") + resume;
  if (groups.is_group(request.after)) return {object, family(bucket, "v") + resume};
  const auto versions = versions_key(bucket, request.after);
  if (request.after_version.empty()) return {object, after_prefix(versions)};
  const auto from = locate(bucket, request.after, request.after_version);
  if (!from)
    throw invalid_argument("Invalid version id specified", "version-id-marker",
                           request.after_version);
  const bool is_current = from->document_key == object_key(bucket, request.after);
  return {object, is_current ? versions : from->document_key};
}

Listing ObjectStore::list_versions(const ListRequest& request) {
  const auto bucket = require_bucket(request.bucket);
  const auto objects = family(*bucket, "o"), versions = family(*bucket, "v");
  const KeyGroups groups(request.prefix, request.delimiter);
  const auto [after_object, after_version] = version_starts(*bucket, request);
  Listing listing;
  Collector collect(listing, request.limit);
  const auto chunk = request.delimiter.empty() ? request.limit + 1 : 100;
  const auto prefix = escape_key(request.prefix);
  IndexCursor current_cursor(*index_, objects + prefix, after_object, chunk);
  IndexCursor older_cursor(*index_, versions + prefix, after_version, chunk);
  std::string last_key = request.after_version.empty() ? "" : request.after;
  bool any_key = !last_key.empty();
  while (true) {
    const auto* now = current_cursor.here();
    const auto* old = older_cursor.here();
    if (!now && !old) break;
    if (!collect.has_room()) break;
    const auto now_key = now ? place_of(*now, objects.size()).key : "";
    const auto old_key = old ? place_of(*old, versions.size()).key : "";
    const bool take_now = now && (!old || now_key <= old_key);
    const auto& key = take_now ? now_key : old_key;
    if (auto group = groups.group_of(key)) {
      current_cursor.jump(after_prefix(objects + escape_key(*group)));
      older_cursor.jump(after_prefix(versions + escape_key(*group)));
      collect.add_prefix(std::move(*group));
      continue;
    }
    listing.latest.push_back(take_now || !any_key || key != last_key);
    last_key = key;
    any_key = true;
    collect.add(object_of_body(take_now ? now->body : old->body, key));
    (take_now ? current_cursor : older_cursor).next();
  }
  return listing;
}

}  // namespace meridian::s3
