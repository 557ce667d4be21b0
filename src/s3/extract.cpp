// Unpacks archives that strangers made.
//
// libarchive only reads here. Files are made below the directory one path component at a time,
// never through a symbolic link, so that no archive can write anywhere else, whatever its entries
// are called and in whatever order they come.
//
// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/strings.h"
#include "s3/staging.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

constexpr std::uint64_t most_entries = 1'000'000;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
constexpr std::size_t most_components = 128;

base::Error bad_archive(std::string why) {
  return {base::Code::invalid_argument, "the archive is refused: " + std::move(why)};
}

struct FreeArchive {
  void operator()(struct archive* a) const { ::archive_read_free(a); }
};

// Feeds libarchive; an Error of the body is kept until libarchive has unwound.
struct Source {
  net::BodyReader& body;
  std::string buffer = std::string(256u << 10, '\0');
  std::exception_ptr failure;

  static la_ssize_t read(struct archive* archive, void* self, const void** bytes) {
    auto& source = *static_cast<Source*>(self);
    try {
      *bytes = source.buffer.data();
      return static_cast<la_ssize_t>(source.body.read(source.buffer.data(), source.buffer.size()));
    } catch (...) {  // a C callback
      source.failure = std::current_exception();
      ::archive_set_error(archive, EIO, "reading the archive");
      return -1;
    }
  }
};

// The components of an entry's path; empty for the root itself.
std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  for (auto& component : base::split(path, '/')) {
    if (component.empty() || component == ".") continue;
    if (component == "..")
      throw bad_archive("entry '" + std::string(path) + "' leaves the directory");
    components.push_back(std::move(component));
  }
  if (components.size() > most_components)
    throw bad_archive("entry '" + std::string(path) + "' is nested too deeply");
  return components;
}

class Extractor {
 public:
  Extractor(net::BodyReader& body, const std::filesystem::path& directory)
      : source_{body}, archive_(::archive_read_new()) {
    base::make_directories(directory);
    root_ = base::open_file(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::archive_read_support_format_tar(archive_.get());
    ::archive_read_support_filter_gzip(archive_.get());
    check(::archive_read_open(archive_.get(), &source_, nullptr, &Source::read, nullptr));
  }

  void run() {
    struct archive_entry* entry = nullptr;
    while (true) {
      const int result = ::archive_read_next_header(archive_.get(), &entry);
      if (result == ARCHIVE_EOF) return;
      check(result);
      if (++entries_ > most_entries) throw bad_archive("it has more than a million entries");
      extract(entry);
    }
  }

 private:
  void check(int result) {
    if (result >= ARCHIVE_WARN) return;
    if (source_.failure) std::rethrow_exception(source_.failure);
    const char* text = ::archive_error_string(archive_.get());
    throw bad_archive(text ? text : "it cannot be read");
  }

  void extract(struct archive_entry* entry) {
    const char* name = ::archive_entry_pathname(entry);
    if (!name) throw bad_archive("an entry has no readable name");
    const std::string path(name);
    const auto components = components_of(path);
    if (components.empty()) return;
    const auto parent = open_parent(components, path);
    const auto& last = components.back();
    const auto mode = ::archive_entry_perm(entry) & 0777;
    if (const char* target = ::archive_entry_hardlink(entry))
      return link(target, parent, last, path);
    switch (::archive_entry_filetype(entry)) {
      case AE_IFDIR:
        if (::mkdirat(parent.get(), last.c_str(), mode | 0700) != 0 && errno != EEXIST)
          throw base::errno_error(errno, "unpacking " + path);
        return;
      case AE_IFREG: return write(parent, last, path, mode);
      case AE_IFLNK: return symlink(::archive_entry_symlink(entry), parent, last, components, path);
      default: throw bad_archive("entry '" + path + "' is a device, socket or pipe");
    }
  }

  // The directory that holds the last component, made as needed; never through a link.
  base::UniqueFd open_parent(const std::vector<std::string>& components, const std::string& path) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    base::UniqueFd at(::openat(root_.get(), ".", flags));
    for (std::size_t i = 0; i + 1 < components.size(); ++i) {
      const auto& name = components[i];
      if (::mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST)
        throw base::errno_error(errno, "unpacking " + path);
      base::UniqueFd inner(::openat(at.get(), name.c_str(), flags));
      if (!inner) {
        if (errno == ELOOP || errno == ENOTDIR)
          throw bad_archive("entry '" + path + "' goes through '" + name +
                            "', which is no directory");
        throw base::errno_error(errno, "unpacking " + path);
      }
      at = std::move(inner);
    }
    return at;
  }

  void write(const base::UniqueFd& parent, const std::string& name, const std::string& path,
             mode_t mode) {
    ::unlinkat(parent.get(), name.c_str(), 0);  // a later entry of the same name wins
    base::UniqueFd file(::openat(parent.get(), name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 mode | 0600));
    if (!file) throw base::errno_error(errno, "unpacking " + path);
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    std::uint64_t end = 0;
    while (true) {
      const int result = ::archive_read_data_block(archive_.get(), &bytes, &size, &offset);
      if (result == ARCHIVE_EOF) break;
      check(result);
      bytes_ += size;
      end = std::max(end, static_cast<std::uint64_t>(offset) + size);
      if (bytes_ > most_bytes || end > most_bytes) throw bad_archive("it holds more than 1 TiB");
      write_at(file, {static_cast<const char*>(bytes), size}, static_cast<std::uint64_t>(offset),
               path);
    }
    if (::ftruncate(file.get(), static_cast<off_t>(end)) != 0)  // a hole at the end
      throw base::errno_error(errno, "unpacking " + path);
  }

  static void write_at(const base::UniqueFd& file, std::string_view bytes, std::uint64_t offset,
                       const std::string& path) {
    while (!bytes.empty()) {
      const auto n = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0) throw base::errno_error(errno, "unpacking " + path);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
  }

  void symlink(const char* target, const base::UniqueFd& parent, const std::string& name,
               const std::vector<std::string>& components, const std::string& path) {
    if (!target || !link_stays_inside(base::join(components, "/"), target))
      throw bad_archive("entry '" + path + "' is a link that leaves the directory");
    ::unlinkat(parent.get(), name.c_str(), 0);
    if (::symlinkat(target, parent.get(), name.c_str()) != 0)
      throw base::errno_error(errno, "unpacking " + path);
  }

  void link(const char* target, const base::UniqueFd& parent, const std::string& name,
            const std::string& path) {
    const auto components = components_of(target);
    if (components.empty()) throw bad_archive("entry '" + path + "' is a link to the directory");
    const auto from = open_parent(components, target);
    ::unlinkat(parent.get(), name.c_str(), 0);
    if (::linkat(from.get(), components.back().c_str(), parent.get(), name.c_str(), 0) != 0)
      throw bad_archive("entry '" + path + "' is a link to '" + target + "', which is not there");
  }

  Source source_;
  std::unique_ptr<struct archive, FreeArchive> archive_;
  base::UniqueFd root_;
  std::uint64_t entries_ = 0, bytes_ = 0;
};

}  // namespace

void extract_archive(net::BodyReader& archive, const std::filesystem::path& directory) {
  Extractor(archive, directory).run();
}

}  // namespace meridian::s3
