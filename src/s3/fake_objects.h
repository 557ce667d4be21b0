// A bucket "data" in a temporary directory, for tests: the smallest thing that keeps the promises
// of Objects (it passes the same contract test as the store and the client).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/random.h"
#include "s3/error.h"
#include "s3/objects.h"

namespace meridian::s3 {

class FakeObjects final : public Objects {
 public:
  explicit FakeObjects(const base::Clock& clock) : clock_(clock) {}

  ObjectPage list(const std::string& bucket, const std::string& prefix, const std::string& after,
                  std::size_t limit = 1000) override {
    check(bucket);
    ObjectPage page;
    auto at = after < prefix ? objects_.lower_bound(prefix) : objects_.upper_bound(after);
    for (; at != objects_.end() && at->first.starts_with(prefix); ++at) {
      if (page.objects.size() == limit) {
        page.next_after = page.objects.back().key;
        break;
      }
      page.objects.push_back(at->second.info);
    }
    return page;
  }
  std::optional<ObjectInfo> find(const std::string& bucket, const std::string& key) override {
    check(bucket);
    const auto found = objects_.find(key);
    return found == objects_.end() ? std::nullopt : std::optional(found->second.info);
  }
  std::unique_ptr<net::BodyReader> open(const std::string& bucket, const std::string& key,
                                        std::uint64_t offset = 0,
                                        std::optional<std::uint64_t> count = {}) override {
    if (!find(bucket, key)) throw no_such_key(key);
    const auto bytes = base::read_file(objects_.at(key).file);
    offset = std::min<std::uint64_t>(offset, bytes.size());
    return std::make_unique<net::StringBody>(bytes.substr(offset, count.value_or(bytes.size())));
  }
  std::optional<std::filesystem::path> find_file(const std::string& bucket,
                                                 const std::string& key) override {
    if (!find(bucket, key)) return std::nullopt;
    return objects_.at(key).file;
  }
  void put_file(const std::string& bucket, const std::string& key,
                const std::filesystem::path& file, std::stop_token = {}) override {
    put_bytes(bucket, key, base::read_file(file));
  }
  void put_bytes(const std::string& bucket, const std::string& key,
                 std::string_view bytes) override {
    check(bucket);
    const auto file = directory_.path() / std::to_string(++puts_);  // never the old one's
    base::write_file(file, bytes);
    objects_[key] = {{key, bytes.size(), base::md5_hex(bytes), clock_.now()}, file};
  }
  void remove(const std::string& bucket, const std::string& key) override {
    check(bucket);
    objects_.erase(key);
  }

 private:
  struct Stored {
    ObjectInfo info;
    std::filesystem::path file;
  };

  static void check(const std::string& bucket) {
    if (bucket != "data") throw no_such_bucket(bucket);
  }

  const base::Clock& clock_;
  base::TempDir directory_{"fake-objects"};
  std::map<std::string, Stored> objects_;
  int puts_ = 0;
};

struct TestObjects {
  base::ManualClock clock;
  base::SeededRandom random{7};
  FakeObjects store{clock};
};

inline std::string contents(Objects& objects, const std::string& bucket, const std::string& key) {
  return objects.open(bucket, key)->read_all(1u << 30);
}

}  // namespace meridian::s3
