// SPDX-License-Identifier: Apache-2.0
#include "s3/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

#include "base/digest.h"
#include "base/strings.h"

namespace meridian::s3 {
namespace {

std::string safe_component(std::string_view component) {
  if (component.empty() || component == "." || component == "..")
    return "_" + std::string(component);
  std::string name(component);
  std::replace(name.begin(), name.end(), '\0', '_');
  if (name.size() <= 255) return name;
  const auto hash = base::sha256_hex(name).substr(0, 16);
  return std::string(base::utf8_prefix(name, 255 - hash.size() - 1)) + "~" + hash;
}

std::string read_link(int directory, const char* name) {
  std::string target(4096, '\0');
  const auto n = ::readlinkat(directory, name, target.data(), target.size());
  target.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return target;
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  const int copy = ::dup(directory);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (!stream) {
    ::close(copy);
    return names;
  }
  while (const auto* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void walk(int directory, const std::string& prefix,
          const std::function<void(const TreeEntry&)>& visit) {
  for (const auto& name : names_in(directory)) {
    TreeEntry entry{.path = prefix + name};
    if (::fstatat(directory, name.c_str(), &entry.status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISLNK(entry.status.st_mode)) entry.link_target = read_link(directory, name.c_str());
    visit(entry);
    if (!S_ISDIR(entry.status.st_mode) || entry.path.size() > PATH_MAX) continue;
    base::UniqueFd inner(
        ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) walk(inner.get(), entry.path + "/", visit);
  }
}

}  // namespace

std::string safe_relative_path(std::string_view key) {
  std::vector<std::string> components;
  for (const auto& component : base::split(key, '/'))
    components.push_back(safe_component(component));
  return base::join(components, "/");
}

void walk_tree(const std::filesystem::path& root,
               const std::function<void(const TreeEntry&)>& visit) {
  base::UniqueFd directory(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    if (errno == ENOENT) return;
    throw base::errno_error(errno, "reading " + root.string());
  }
  walk(directory.get(), "", visit);
}

std::optional<base::UniqueFd> open_beneath(const std::filesystem::path& root,
                                           const std::string& path) {
  base::UniqueFd directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return std::nullopt;
  struct open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;  // a FIFO must not hold us
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  base::UniqueFd file(
      static_cast<int>(::syscall(SYS_openat2, directory.get(), path.c_str(), &how, sizeof how)));
  if (!file) {
    if (errno == EMFILE || errno == ENFILE || errno == EIO || errno == ENOSYS)
      throw base::errno_error(errno, "opening " + (root / path).string());
    return std::nullopt;
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return file;
}

std::filesystem::path path_of_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

bool link_stays_inside(std::string_view path, std::string_view target) {
  if (target.empty() || target.front() == '/') return false;
  long depth = std::count(path.begin(), path.end(), '/');
  for (const auto& component : base::split(target, '/')) {
    if (component == "..") {
      if (--depth < 0) return false;
    } else if (!component.empty() && component != ".") {
      ++depth;
    }
  }
  return true;
}

}  // namespace meridian::s3
