// The content of objects: immutable files named by id.
//
// Promises:
//   1. Content that is returned is whole and (with Durability::synced) on the disk. Its bytes never
//      change once the index names an object that it makes up.
//   2. Removing a file that somebody has pinned waits until the last pin is gone.
//   3. After a crash, sweep() removes every file that the index does not name.
//
// Layout: <root>/ab/<id> where "ab" are the id's first two digits; <root>/tmp/ holds files that are
// still being written.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/sync.h"
#include "net/http.h"
#include "s3/store/checksum.h"

namespace meridian::s3 {

// A content file that the index does not name yet; removed with its owner unless kept.
class ContentFiles;
class NewContent {
 public:
  NewContent(ContentFiles& files, std::string id) : files_(&files), id_(std::move(id)) {}
  ~NewContent();
  NewContent(NewContent&& other) noexcept;
  NewContent& operator=(NewContent&&) = delete;
  const std::string& id() const { return id_; }
  void keep() { files_ = nullptr; }  // the index names it now

 private:
  ContentFiles* files_;
  std::string id_;
};

class ContentFiles {
 public:
  ContentFiles(std::filesystem::path root, base::Durability durability, base::Random& random);

  struct Received {
    NewContent content;
    std::uint64_t size = 0;
    std::string md5;                      // hex
    std::optional<std::string> checksum;  // base64, when asked for
  };
  // Stores the rest of `body`. Hashes while it writes; a second thread hashes large bodies. Reads
  // at most `limit` bytes: EntityTooLarge past it.
  Received receive(net::BodyReader& body, std::optional<ChecksumKind> checksum,
                   std::uint64_t limit);
  // An empty file that will be written at several places before it is used.
  NewContent reserve();
  struct Sums {
    std::uint64_t size = 0;
    std::string md5;                      // hex
    std::optional<std::string> checksum;  // base64, when asked for
  };
  // Stores the rest of `body`, which is of `size` bytes, at that place of a reserved file. What
  // fails gives its room back.
  Sums receive_at(const std::string& id, std::uint64_t offset, std::uint64_t size,
                  net::BodyReader& body, std::optional<ChecksumKind> checksum);
  // Takes a file of the same file system without a copy; it is gone from `file` afterwards. Nothing
  // when it lies elsewhere.
  std::optional<Received> adopt(const std::filesystem::path& file);
  // A new id for the same bytes (a hard link), or for a range of them (a copy).
  NewContent duplicate(const std::string& id);
  NewContent copy_ranges(const std::vector<struct Slice>& slices);

  std::filesystem::path path_of(const std::string& id) const;
  std::optional<base::UniqueFd> open(const std::string& id) const;  // nothing when it is gone
  void remove(const std::string& id);

  // Keeps files while it lives.
  class Pin {
   public:
    Pin(ContentFiles& files, std::vector<std::string> ids);
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    ContentFiles& files_;
    std::vector<std::string> ids_;
  };

  // Removes what is still being written and what `named` does not hold. Only before any use.
  std::size_t sweep(const std::set<std::string>& named);
  void remove_unfinished();

 private:
  friend class NewContent;
  struct Pins {
    std::map<std::string, int> count;
    std::set<std::string> doomed;  // removed while pinned
  };

  Sums store(net::BodyReader& body, int fd, std::uint64_t offset, std::uint64_t limit,
             std::optional<ChecksumKind> checksum, const std::function<void()>& land) const;
  std::string new_id();
  void make_directory_of(const std::string& id);
  std::filesystem::path temporary(const std::string& id) const;
  void sync(int fd) const;  // as the durability asks
  NewContent publish(const std::string& id, int fd);
  void unlink_file(const std::string& id);

  std::filesystem::path root_;
  base::Durability durability_;
  base::Random& random_;
  std::array<std::atomic<bool>, 256> made_{};  // the directories
  base::Sync<Pins> pins_;
};

// A stretch of one content file.
struct Slice {
  std::string id;
  std::uint64_t offset = 0, size = 0;
};

}  // namespace meridian::s3
