// Packs directories into .tar.gz.
//
// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "base/file.h"
#include "s3/staging.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

struct FreeArchive {
  void operator()(struct archive* a) const { ::archive_write_free(a); }
};
struct FreeEntry {
  void operator()(struct archive_entry* e) const { ::archive_entry_free(e); }
};

class Packer {
 public:
  Packer(const std::filesystem::path& file, std::stop_token stop)
      : archive_(::archive_write_new()), stop_(std::move(stop)) {
    ::archive_write_set_format_pax_restricted(archive_.get());
    ::archive_write_add_filter_gzip(archive_.get());
    // Models are mostly floats: higher levels cost several times more and gain a few per cent.
    ::archive_write_set_options(archive_.get(), "gzip:compression-level=1,gzip:!timestamp");
    check(::archive_write_open_filename(archive_.get(), file.c_str()));
  }

  void add_tree(const std::filesystem::path& root) {
    walk_tree(root, [&](const TreeEntry& entry) {
      if (stop_.stop_requested()) throw base::Error(base::Code::cancelled, "packing was cancelled");
      if (!names_.insert(entry.path).second) return;  // the first directory wins a name
      add(root, entry);
    });
  }

  std::vector<std::string> finish() {
    check(::archive_write_close(archive_.get()));
    return std::move(left_out_);
  }

 private:
  using EntryPointer = std::unique_ptr<struct archive_entry, FreeEntry>;

  void add(const std::filesystem::path& root, const TreeEntry& entry) {
    if (S_ISREG(entry.status.st_mode)) return add_file(root, entry);
    auto header = new_header(entry.path, entry.status);
    if (S_ISLNK(entry.status.st_mode) && link_stays_inside(entry.path, entry.link_target))
      ::archive_entry_set_symlink(header.get(), entry.link_target.c_str());
    else if (!S_ISDIR(entry.status.st_mode))
      return left_out_.push_back(entry.path);  // sockets, devices, links that lead out
    ::archive_entry_set_size(header.get(), 0);
    check(::archive_write_header(archive_.get(), header.get()));
  }

  void add_file(const std::filesystem::path& root, const TreeEntry& entry) {
    const auto file = open_beneath(root, entry.path);
    if (!file) return;  // it vanished
    struct stat status{};
    if (::fstat(file->get(), &status) != 0) throw base::errno_error(errno, "reading " + entry.path);
    auto header = new_header(entry.path, status);
    check(::archive_write_header(archive_.get(), header.get()));
    auto left = static_cast<std::uint64_t>(status.st_size);
    while (left > 0) {  // what grows is cut, what shrinks is filled with zeros by libarchive
      const auto n =
          ::read(file->get(), buffer_.data(), std::min<std::uint64_t>(buffer_.size(), left));
      if (n < 0) throw base::errno_error(errno, "reading " + entry.path);
      if (n == 0) break;
      if (::archive_write_data(archive_.get(), buffer_.data(), static_cast<std::size_t>(n)) < 0)
        check(ARCHIVE_FATAL);
      left -= static_cast<std::uint64_t>(n);
      if (stop_.stop_requested()) throw base::Error(base::Code::cancelled, "packing was cancelled");
    }
  }

  static EntryPointer new_header(const std::string& path, const struct stat& status) {
    EntryPointer header(::archive_entry_new());
    ::archive_entry_copy_stat(header.get(), &status);
    ::archive_entry_set_perm(header.get(), status.st_mode & 0777);
    ::archive_entry_set_uid(header.get(), 0);  // nobody's accounts mean anything elsewhere
    ::archive_entry_set_gid(header.get(), 0);
    ::archive_entry_set_nlink(header.get(), 1);
    ::archive_entry_set_pathname(header.get(), path.c_str());
    return header;
  }

  void check(int result) {
    if (result >= ARCHIVE_WARN) return;
    const int number = ::archive_errno(archive_.get());
    const char* text = ::archive_error_string(archive_.get());
    if (number > 0) throw base::errno_error(number, "writing an archive");
    throw base::Error(base::Code::internal,
                      std::string("writing an archive: ") + (text ? text : "failed"));
  }

  std::unique_ptr<struct archive, FreeArchive> archive_;
  std::stop_token stop_;
  std::set<std::string> names_;
  std::vector<std::string> left_out_;
  std::string buffer_ = std::string(256u << 10, '\0');
};

// A name of our own in the scratch directory; gone in the end, whatever happens.
struct ScratchFile {
  explicit ScratchFile(const std::filesystem::path& directory) {
    auto name = (directory / "archive-XXXXXX").string();
    base::UniqueFd fd(::mkstemp(name.data()));
    if (!fd) throw base::errno_error(errno, "making a file in " + directory.string());
    path = name;
  }
  ~ScratchFile() { ::unlink(path.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  std::filesystem::path path;
};

}  // namespace

Upload upload_archive(Objects& objects, const std::vector<std::filesystem::path>& directories,
                      const std::string& bucket, const std::string& key,
                      const std::filesystem::path& scratch, std::stop_token stop) {
  base::make_directories(scratch);
  const ScratchFile room(scratch);
  const auto& file = room.path;
  Upload upload;
  {
    Packer packer(file, stop);
    for (const auto& directory : directories) packer.add_tree(directory);
    upload.left_out = packer.finish();
  }
  upload.bytes = std::filesystem::file_size(file);
  objects.adopt_file(bucket, key, file, stop);
  return upload;
}

Upload upload_tree(Objects& objects, const std::filesystem::path& directory,
                   const std::string& bucket, const std::string& key_prefix, std::stop_token stop) {
  Upload upload;
  const std::string folder =
      key_prefix.empty() || key_prefix.ends_with('/') ? key_prefix : key_prefix + "/";
  walk_tree(directory, [&](const TreeEntry& entry) {
    if (stop.stop_requested()) throw base::Error(base::Code::cancelled, "the upload was cancelled");
    if (S_ISDIR(entry.status.st_mode)) return;
    const auto file = open_beneath(directory, entry.path);
    if (!file) return upload.left_out.push_back(entry.path);
    struct stat status{};
    if (::fstat(file->get(), &status) == 0)
      upload.bytes += static_cast<std::uint64_t>(status.st_size);
    objects.put_file(bucket, folder + entry.path, path_of_descriptor(file->get()), stop);
  });
  return upload;
}

}  // namespace meridian::s3
