// Objects in buckets, as staging, uploads and checkpoints need them.
//
// Two implementations: the region's own store (ObjectStore, no HTTP in between) and Client (SigV4
// over HTTP to Meridian or AWS). Both pass the same contract test.
//
// Blocking, thread-safe. Errors: not_found (bucket or key, named), permission_denied, unavailable.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "net/http.h"

namespace meridian::s3 {

// s3://bucket/key
struct Uri {
  std::string bucket, key;
  std::string text() const { return "s3://" + bucket + "/" + key; }
};
base::Result<Uri> parse_uri(
    std::string_view text);  // s3:// and https:// path or virtual-host forms
// The bucket in front of a virtual-host name (bucket.localhost, bucket.s3.REGION.…); "" for others.
std::string bucket_of_host(std::string_view host);

struct ObjectInfo {
  std::string key;
  std::uint64_t size = 0;
  std::string etag;  // without quotes
  base::Timestamp last_modified{};
  bool operator==(const ObjectInfo&) const = default;
};

struct ObjectPage {
  std::vector<ObjectInfo> objects;  // by key
  std::string next_after;           // key to continue after; empty = the end
};

// Part of an object, of the version that `etag` names.
struct Stretch {
  std::uint64_t offset = 0, count = 0;
  std::string etag;
};

class Objects {
 public:
  virtual ~Objects() = default;
  virtual ObjectPage list(const std::string& bucket, const std::string& prefix,
                          const std::string& after, std::size_t limit = 1000) = 0;
  virtual std::optional<ObjectInfo> find(const std::string& bucket, const std::string& key) = 0;
  // The whole object or a range of it.
  virtual std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                                std::uint64_t offset = 0,
                                                std::optional<std::uint64_t> count = {}) = 0;
  // Writes the object, or a stretch of it, to the same place in `file`. May take all of several
  // tries. Error(failed_precondition) when a stretch's version is replaced, as far as that is seen.
  virtual void fetch(const std::string& bucket, const std::string& key, int file,
                     const std::optional<Stretch>& stretch = {});
  // The immutable file that holds the object, when it lies on this machine in one piece: may be
  // hard linked, never written. Multipart objects and remote stores give nothing.
  virtual std::optional<std::filesystem::path> find_file(const std::string& bucket,
                                                         const std::string& key) = 0;
  // The stretches of immutable files of this machine that make up the object, in order; nothing
  // when it lies elsewhere.
  struct LocalPiece {
    std::filesystem::path file;
    std::uint64_t size = 0, offset = 0;
    bool operator==(const LocalPiece&) const = default;
  };
  virtual std::optional<std::vector<LocalPiece>> find_pieces(const std::string& bucket,
                                                             const std::string& key);
  virtual void put_file(const std::string& bucket, const std::string& key,
                        const std::filesystem::path& file, std::stop_token stop = {}) = 0;
  // As put_file, and the file goes with it: a store on the same file system takes it without a
  // copy.
  virtual void adopt_file(const std::string& bucket, const std::string& key,
                          const std::filesystem::path& file, std::stop_token stop = {});
  virtual void put_bytes(const std::string& bucket, const std::string& key,
                         std::string_view bytes) = 0;
  virtual void remove(const std::string& bucket, const std::string& key) = 0;  // absent is fine
};

// Every object below the prefix, page by page.
void for_each_object(Objects& objects, const std::string& bucket, const std::string& prefix,
                     const std::function<void(const ObjectInfo&)>& visit);

}  // namespace meridian::s3
