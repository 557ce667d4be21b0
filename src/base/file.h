// Files: owned descriptors, whole-file reads, durable writes.
//
// Every failure throws the Error of its errno, naming the path.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace meridian::base {

// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

UniqueFd open_file(const std::filesystem::path& path, int flags, mode_t mode = 0644);

std::string read_file(const std::filesystem::path& path);
// As much as there is, at most `limit` bytes; "" when the file does not exist.
std::string read_file_if_exists(const std::filesystem::path& path, std::size_t limit = 64u << 20);

enum class Durability { none, synced };  // synced: survives power loss
// Temporary file, then rename: readers see the old contents or the new, never a part.
void write_file(const std::filesystem::path& path, std::string_view contents,
                Durability durability = Durability::none, mode_t mode = 0644);
void write_all(int fd, std::string_view bytes);  // retries short writes and EINTR
void sync_directory(const std::filesystem::path& directory);
void make_directories(const std::filesystem::path& path, mode_t mode = 0755);
void remove_tree(const std::filesystem::path& path);  // absent is fine; never follows links

// A directory that is removed with its owner; below $TMPDIR or /tmp.
class TempDir {
 public:
  explicit TempDir(std::string_view prefix = "meridian");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace meridian::base
