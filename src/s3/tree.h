// File trees that other people's keys and programs name: nothing here leaves the tree.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace meridian::s3 {

// A key as a relative path that stays where it is put: components "", "." and ".." get a '_' in
// front, bytes that no file name holds become '_', components over 255 bytes are cut and get a
// hash.
std::string safe_relative_path(std::string_view key);

// One entry of a tree, by relative path; directories are visited before what they hold, in order of
// names.
struct TreeEntry {
  std::string path;
  struct stat status{};  // of the entry itself: links are not followed
  std::string link_target;
};
// Walks without following links. Entries that vanish meanwhile are passed over.
void walk_tree(const std::filesystem::path& root,
               const std::function<void(const TreeEntry&)>& visit);

// Opens a regular file below the root for reading; links are followed only inside the root. Nothing
// when there is no such file (any more), it is not a regular file, or a link leads out.
std::optional<base::UniqueFd> open_beneath(const std::filesystem::path& root,
                                           const std::string& path);
// How other code opens that very file again by name.
std::filesystem::path path_of_descriptor(int fd);

// Whether a symbolic link at `path` with this target stays inside the tree, by names alone.
bool link_stays_inside(std::string_view path, std::string_view target);

}  // namespace meridian::s3
