// SPDX-License-Identifier: Apache-2.0
#include "cli/upload.h"

#include <algorithm>
#include <mutex>

#include "base/file.h"
#include "base/strings.h"
#include "s3/in_parallel.h"
#include "s3/staging.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t files_at_once = 8;

bool is_left_out(const fs::path& name) {
  for (const char* skipped :
       {".git", "__pycache__", ".venv", "venv", "node_modules", ".pytest_cache"})
    if (name == skipped) return true;
  return name.extension() == ".pyc";
}

// A copy without what a training never needs; links inside become what they point to.
void copy_source(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto name = entry.path().filename();
    if (is_left_out(name)) continue;
    if (entry.is_directory())
      copy_source(entry.path(), to / name);
    else if (entry.is_regular_file())
      fs::copy_file(entry.path(), to / name);
  }
}

LocalFile describe(const fs::path& path, std::string key) {
  return {path, std::move(key), fs::file_size(path)};
}

}  // namespace

std::vector<LocalFile> find_files(const fs::path& path) {
  if (fs::is_regular_file(path)) return {describe(path, path.filename().string())};
  if (!fs::is_directory(path))
    throw base::Error(base::Code::not_found, "no file or directory '" + path.string() + "'");
  std::vector<LocalFile> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(path, fs::directory_options::follow_directory_symlink))
    if (entry.is_regular_file())
      files.push_back(
          describe(entry.path(), entry.path().lexically_relative(path).generic_string()));
  if (files.empty())
    throw base::Error(base::Code::not_found, "directory '" + path.string() + "' has no files");
  std::sort(files.begin(), files.end(),
            [](const LocalFile& a, const LocalFile& b) { return a.key < b.key; });
  return files;
}

std::string UploadProgress::text() const {
  return std::to_string(files_done) + "/" + std::to_string(files_total) + " files, " +
         base::format_bytes(bytes_done) + " of " + base::format_bytes(bytes_total);
}

void upload_files(s3::Objects& objects, const std::vector<LocalFile>& files,
                  const std::string& bucket, const std::string& prefix, const OnUpload& progress) {
  UploadProgress state{.files_total = files.size()};
  for (const auto& file : files) state.bytes_total += file.size;
  std::mutex mutex;  // of state
  s3::in_parallel(files.size(), files_at_once, [&](std::size_t i) {
    objects.put_file(bucket, prefix + files[i].key, files[i].path);
    const std::lock_guard lock(mutex);
    ++state.files_done;
    state.bytes_done += files[i].size;
    if (progress) progress(state);
  });
}

std::uint64_t upload_code(s3::Objects& objects, const fs::path& source, const std::string& bucket,
                          const std::string& key) {
  const base::TempDir scratch("meridian-code");
  const auto tree = scratch.path() / "tree";
  fs::create_directories(tree);
  if (fs::is_directory(source))
    copy_source(source, tree);
  else
    fs::copy_file(source, tree / source.filename());
  return s3::upload_archive(objects, {tree}, bucket, key, scratch.path(), {}).bytes;
}

}  // namespace meridian::cli
