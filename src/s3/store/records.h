// What the index of a region's objects holds, and how its documents are named.
//
// Keys (A = account, R = region, B = bucket, K = object key, escaped so that byte order is kept):
//
//   A/R/s3/b/B            bucket
//   A/R/s3/o/B/K          the current object of a key; absent when a delete marker is current
//   A/R/s3/v/B/K\0ORDER   older versions and all delete markers, newest first
//   A/R/s3/u/B/K\0ID      multipart upload
//   A/R/s3/p/ID/NNNNN     a part of it
//   A/R/s3/c/ID           what a completed upload became; kept for a day
//
// LIST reads only o/; ListObjectVersions merges o/ and v/.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "s3/store/checksum.h"
#include "s3/store/content.h"

namespace meridian::s3 {

using Fields = std::map<std::string, std::string>;

enum class Versioning { off, enabled, suspended };

struct BucketRecord {
  std::string name, account, region;
  base::Timestamp created{};
  Versioning versioning = Versioning::off;
  Fields tags;
  Fields documents;  // stored configurations by sub-resource: "cors" → its XML, …
};

// A content file of an object, or a stretch of one.
struct Piece {
  std::string id;
  std::uint64_t size = 0;
  std::string checksum;      // of a part, base64; "" = none
  std::uint64_t offset = 0;  // in the file
};

struct ObjectRecord {
  std::string key;  // from the document's key, not stored in its body
  std::uint64_t size = 0;
  std::string etag;  // without quotes
  base::Timestamp modified{};
  std::vector<Piece> pieces;  // one, or the parts of a multipart upload
  bool multipart = false;
  bool delete_marker = false;
  std::string version_id = "null";
  std::string order;  // sorts newest first
  Fields metadata;    // x-amz-meta-NAME without the prefix
  Fields headers;     // stored response headers by lower-case name
  Fields tags;
  std::string storage_class = "STANDARD";
  std::optional<Checksum> checksum;
};

// Whether the pieces follow each other from the beginning of one file.
bool is_one_file(const std::vector<Piece>& pieces);

struct UploadRecord {
  std::string key, id;
  // Where parts lie in the file they share: part n at (n - 1) · stride. "" = none shares one.
  std::string file;
  std::uint64_t stride = 0;
  base::Timestamp started{};
  Fields metadata, headers, tags;
  std::string storage_class = "STANDARD";
  std::optional<ChecksumKind> checksum;
  bool composite = true;
};

struct PartRecord {
  int number = 0;
  Piece piece;
  std::string etag;
  base::Timestamp modified{};
};

struct CompletedUpload {
  std::string bucket;
  base::Timestamp bucket_created{};  // another bucket of that name is another bucket
  base::Timestamp at{};
  ObjectRecord object;  // with its key, without its pieces
};

std::string to_body(const BucketRecord& record);
std::string to_body(const ObjectRecord& record);
std::string to_body(const UploadRecord& record);
std::string to_body(const PartRecord& record);
std::string to_body(const CompletedUpload& record);
BucketRecord bucket_of_body(std::string_view body);
ObjectRecord object_of_body(std::string_view body, std::string key);
UploadRecord upload_of_body(std::string_view body);
PartRecord part_of_body(std::string_view body);
CompletedUpload completed_of_body(std::string_view body);

// Object keys inside document keys: \0 becomes \1\1 and \1 becomes \1\2, so that \0 is free as a
// separator and order stays the order of bytes.
std::string escape_key(std::string_view key);
std::string unescape_key(std::string_view escaped);
// Sorts after every valid document key that starts with `prefix` (0xFF is never valid UTF-8).
std::string after_prefix(std::string_view prefix);

// "0000018f…": later times and higher counters sort first.
std::string version_order(std::uint64_t sequence);
std::uint64_t sequence_of(std::string_view order);

}  // namespace meridian::s3
