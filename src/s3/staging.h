// Brings the data of a channel into a directory, and results back into a bucket.
//
// Promises:
//   1. A staged file never shares a writable inode with the store: reflink, or a hard link that the
//      sandbox mounts as the lower layer of an overlay or read-only (StagedTree says which), or a
//      copy.
//   2. Staging from the local store costs O(files), not O(bytes).
//   3. Names stay inside the directory whatever the keys are; a key that is a folder marker, or
//   that
//      collides with a folder, makes no file.
//   4. The same seed shuffles to the same order; shards are disjoint and together everything.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "s3/objects.h"

namespace meridian::s3 {

enum class DataType { prefix, manifest, augmented_manifest };
enum class Distribution { replicated, sharded };

// What a channel's S3DataSource asks for.
struct ChannelSource {
  std::string uri;
  DataType type = DataType::prefix;
  Distribution distribution = Distribution::replicated;
  std::optional<std::int64_t> shuffle_seed;
  std::vector<std::string> attributes;  // augmented manifest
};

// One object of a channel, with the relative path it gets.
struct ChannelObject {
  std::string bucket;
  ObjectInfo info;
  std::string relative_path;
};

// The objects of the channel for instance `index` of `count`, in order (epoch matters with a seed).
// Error(not_found) "No S3 objects found under S3 URL …", Error(invalid_argument) for a bad
// manifest.
std::vector<ChannelObject> list_channel(Objects& objects, const ChannelSource& source,
                                        std::size_t index = 0, std::size_t count = 1,
                                        int epoch = 0);

struct Progress {
  std::uint64_t files_done = 0, files_total = 0, bytes_done = 0, bytes_total = 0;
};
using OnProgress = std::function<void(const Progress&)>;

enum class Decompress { none, gzip };

struct StagedTree {
  std::uint64_t files = 0, bytes = 0;
  bool shares_inodes =
      false;  // true: mount it as a lower layer or read-only, never plainly writable
};

// Writes `<directory>/<relative path>` for each object. Idempotent: a second call completes the
// first.
StagedTree stage(Objects& objects, const std::vector<ChannelObject>& channel,
                 const std::filesystem::path& directory, Decompress decompress,
                 const OnProgress& progress, std::stop_token stop);

// Packs the directories' contents at the archive's root (first directory wins a name) as .tar.gz
// and puts it at bucket/key. Symbolic links that leave the tree are left out, and listed in the
// answer.
struct Upload {
  std::uint64_t bytes = 0;
  std::vector<std::string> left_out;
};
Upload upload_archive(Objects& objects, const std::vector<std::filesystem::path>& directories,
                      const std::string& bucket, const std::string& key,
                      const std::filesystem::path& scratch, std::stop_token stop);
// The same contents file by file below the key prefix.
Upload upload_tree(Objects& objects, const std::filesystem::path& directory,
                   const std::string& bucket, const std::string& key_prefix, std::stop_token stop);

// Unpacks .tar.gz safely: nothing outside `directory`, no devices, no setuid, bounded size and
// count.
void extract_archive(net::BodyReader& archive, const std::filesystem::path& directory);

// Two-way sync of a directory with a prefix (checkpoints, TensorBoard): uploads what is new or
// changed since the last call, removes what was deleted here.
class DirectorySync {
 public:
  DirectorySync(Objects& objects, std::filesystem::path directory, std::string bucket,
                std::string prefix);
  void download(std::stop_token stop);  // before the program starts
  struct Result {
    std::uint64_t uploaded = 0, removed = 0, pending = 0;
  };
  Result upload_changes(std::stop_token stop);  // errors leave the rest pending and throw

 private:
  Objects& objects_;
  std::filesystem::path directory_;
  std::string bucket_, prefix_;
  std::map<std::string, std::string> known_;  // relative path → size and mtime at last upload
};

}  // namespace meridian::s3
