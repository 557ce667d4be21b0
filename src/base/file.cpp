// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.h"

namespace meridian::base {
namespace fs = std::filesystem;

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) reset(other.release());
  return *this;
}

int UniqueFd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

UniqueFd open_file(const fs::path& path, int flags, mode_t mode) {
  while (true) {
    const int fd = open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return UniqueFd(fd);
    if (errno != EINTR) throw errno_error(errno, "cannot open " + path.string());
  }
}

namespace {
std::string read_up_to(int fd, std::size_t limit, const fs::path& path) {
  std::string out;
  struct stat info{};
  if (fstat(fd, &info) == 0 && info.st_size > 0) {
    out.reserve(std::min<std::size_t>(limit, static_cast<std::size_t>(info.st_size)));
  }
  char buffer[65536];
  while (out.size() < limit) {
    const ssize_t n = read(fd, buffer, std::min(sizeof buffer, limit - out.size()));
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw errno_error(errno, "cannot read " + path.string());
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}
}  // namespace

std::string read_file(const fs::path& path) {
  const UniqueFd fd = open_file(path, O_RDONLY);
  return read_up_to(fd.get(), SIZE_MAX, path);
}

std::string read_file_if_exists(const fs::path& path, std::size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return "";
  if (fd < 0) throw errno_error(errno, "cannot open " + path.string());
  const UniqueFd owner(fd);
  return read_up_to(fd, limit, path);
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw errno_error(errno, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void write_file(const fs::path& path, std::string_view contents, Durability durability,
                mode_t mode) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = path.string() + ".tmp-" + std::to_string(getpid()) + "-" +
                             std::to_string(counter.fetch_add(1));
  try {
    while_doing("writing " + path.string(), [&] {
      const UniqueFd fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
      write_all(fd.get(), contents);
      if (durability == Durability::synced && fsync(fd.get()) != 0) {
        throw errno_error(errno, "cannot sync " + temporary.string());
      }
      if (rename(temporary.c_str(), path.c_str()) != 0) {
        throw errno_error(errno, "cannot rename " + temporary.string());
      }
      if (durability == Durability::synced) sync_directory(path.parent_path());
    });
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

void sync_directory(const fs::path& directory) {
  const fs::path target = directory.empty() ? fs::path(".") : directory;
  const UniqueFd fd = open_file(target, O_RDONLY | O_DIRECTORY);
  if (fsync(fd.get()) != 0) throw errno_error(errno, "cannot sync " + target.string());
}

void make_directories(const fs::path& path, mode_t mode) {
  std::error_code ec;
  if (fs::is_directory(path, ec)) return;
  if (path.has_parent_path() && path.parent_path() != path) {
    make_directories(path.parent_path(), mode);
  }
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    throw errno_error(errno, "cannot create directory " + path.string());
  }
}

void remove_tree(const fs::path& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (ec && ec != std::errc::no_such_file_or_directory) {
    throw errno_error(ec.value(), "cannot remove " + path.string());
  }
}

TempDir::TempDir(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      (fs::path(base != nullptr && *base != '\0' ? base : "/tmp") / std::string(prefix)).string() +
      "-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    throw errno_error(errno, "cannot create a temporary directory like " + pattern);
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace meridian::base
