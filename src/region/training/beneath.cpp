// SPDX-License-Identifier: Apache-2.0
#include "region/training/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace meridian::region::training {
namespace {

base::UniqueFd open_beneath(const std::filesystem::path& root, const std::filesystem::path& below,
                            std::uint64_t flags) {
  base::UniqueFd directory(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return {};
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return base::UniqueFd(
      static_cast<int>(syscall(SYS_openat2, directory.get(), below.c_str(), &how, sizeof how)));
}

}  // namespace

std::optional<PinnedDirectory> pin_directory(const std::filesystem::path& root,
                                             const std::filesystem::path& below) {
  base::UniqueFd fd = open_beneath(root, below, O_RDONLY | O_DIRECTORY);
  if (!fd) return std::nullopt;
  return PinnedDirectory(std::move(fd));
}

void PinnedDirectory::become(const PinnedDirectory& other) {
  if (dup3(other.fd(), fd_.get(), O_CLOEXEC) < 0) throw base::errno_error(errno, "dup3");
}

std::string read_beneath(const std::filesystem::path& root, const std::filesystem::path& below,
                         std::size_t limit) {
  // O_NONBLOCK: a FIFO in the file's place must not hold us.
  base::UniqueFd fd = open_beneath(root, below, O_RDONLY | O_NONBLOCK);
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  std::string text(limit, '\0');
  std::size_t size = 0;
  while (size < limit) {
    ssize_t got = read(fd.get(), text.data() + size, limit - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace meridian::region::training
