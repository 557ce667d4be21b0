// All buckets of an installation as one: each call goes to the region's store that holds the
// bucket.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "s3/store/object_store.h"

namespace meridian::s3 {

class RoutedObjects final : public Objects {
 public:
  explicit RoutedObjects(std::vector<ObjectStore*> stores) : stores_(std::move(stores)) {}

  ObjectPage list(const std::string& bucket, const std::string& prefix, const std::string& after,
                  std::size_t limit) override {
    return home(bucket).list(bucket, prefix, after, limit);
  }
  std::optional<ObjectInfo> find(const std::string& bucket, const std::string& key) override {
    return home(bucket).find(bucket, key);
  }
  std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                        std::uint64_t offset,
                                        std::optional<std::uint64_t> count) override {
    return home(bucket).open(bucket, key, offset, count);
  }
  std::optional<std::filesystem::path> find_file(const std::string& bucket,
                                                 const std::string& key) override {
    return home(bucket).find_file(bucket, key);
  }
  std::optional<std::vector<LocalPiece>> find_pieces(const std::string& bucket,
                                                     const std::string& key) override {
    return home(bucket).find_pieces(bucket, key);
  }
  void put_file(const std::string& bucket, const std::string& key,
                const std::filesystem::path& file, std::stop_token stop) override {
    home(bucket).put_file(bucket, key, file, stop);
  }
  void adopt_file(const std::string& bucket, const std::string& key,
                  const std::filesystem::path& file, std::stop_token stop) override {
    home(bucket).adopt_file(bucket, key, file, stop);
  }
  void put_bytes(const std::string& bucket, const std::string& key,
                 std::string_view bytes) override {
    home(bucket).put_bytes(bucket, key, bytes);
  }
  void remove(const std::string& bucket, const std::string& key) override {
    home(bucket).remove(bucket, key);
  }

 private:
  // The store with the bucket; the first one, which then says that there is no such bucket, if
  // none.
  ObjectStore& home(const std::string& bucket) const {
    for (ObjectStore* store : stores_) {
      if (store->find_bucket(bucket) != nullptr) return *store;
    }
    return *stores_.front();
  }

  std::vector<ObjectStore*> stores_;
};

}  // namespace meridian::s3
