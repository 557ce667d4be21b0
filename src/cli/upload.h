// Brings local data and code into a bucket before a training.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "s3/objects.h"

namespace meridian::cli {

struct LocalFile {
  std::filesystem::path path;
  std::string key;  // relative to the prefix, with '/'
  std::uint64_t size = 0;
};

// The regular files of a directory (links followed), or the file itself, in order of their keys.
// Error(not_found) names what is missing.
std::vector<LocalFile> find_files(const std::filesystem::path& path);

struct UploadProgress {
  std::uint64_t files_done = 0, files_total = 0, bytes_done = 0, bytes_total = 0;
  std::string text() const;  // "12/40 files, 3.1 MiB of 9.8 MiB"
};
using OnUpload = std::function<void(const UploadProgress&)>;  // one call at a time

// Puts the files below bucket/prefix, several at once. The first failure ends it.
void upload_files(s3::Objects& objects, const std::vector<LocalFile>& files,
                  const std::string& bucket, const std::string& prefix, const OnUpload& progress);

// Packs a source directory (without .git, __pycache__, virtual environments) or a single program as
// sourcedir.tar.gz; gives its size.
std::uint64_t upload_code(s3::Objects& objects, const std::filesystem::path& source,
                          const std::string& bucket, const std::string& key);

}  // namespace meridian::cli
