// Reaching into directories that a program writes: it may have put links where files were.
//
// Everything is opened below a root that the program can't touch (the instance's directory), by
// openat2 without following any link on the way.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace meridian::region::training {

// A directory held open: its path stays the same directory whatever is renamed or linked meanwhile.
class PinnedDirectory {
 public:
  explicit PinnedDirectory(base::UniqueFd fd) : fd_(std::move(fd)) {}
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }
  int fd() const { return fd_.get(); }
  // The same path stands for that directory from now on.
  void become(const PinnedDirectory& other);

 private:
  base::UniqueFd fd_;
};

// Nothing when it is not there, or something else than a directory is on the way.
std::optional<PinnedDirectory> pin_directory(const std::filesystem::path& root,
                                             const std::filesystem::path& below);
// "" when it is not there, is no regular file, or a link is on the way; at most `limit` bytes.
std::string read_beneath(const std::filesystem::path& root, const std::filesystem::path& below,
                         std::size_t limit);

}  // namespace meridian::region::training
