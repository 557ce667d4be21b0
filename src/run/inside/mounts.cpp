// SPDX-License-Identifier: Apache-2.0
#include "run/inside/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

void mount_or_throw(const char* source, const fs::path& target, const char* type,
                    unsigned long flags, const char* options) {
  if (mount(source, target.c_str(), type, flags, options) != 0) {
    throw base::errno_error(errno, std::string("cannot mount ") +
                                       (type != nullptr ? type : source) + " on " +
                                       target.string());
  }
}

Identity owner_of(const fs::path& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    throw base::errno_error(errno, "cannot stat " + path.string());
  return {info.st_uid, info.st_gid};
}

// A detached copy of the mount at `host`, shown with the owners that `mapping` exchanges.
base::UniqueFd clone_mapped(const fs::path& host, const base::UniqueFd& mapping) {
  base::UniqueFd tree(
      open_tree(AT_FDCWD, host.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
  if (!tree) throw base::errno_error(errno, "cannot clone the mount of " + host.string());
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(mapping.get());
  if (mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) !=
      0) {
    throw base::errno_error(errno, "cannot map owners of " + host.string());
  }
  return tree;
}

void place(const base::UniqueFd& tree, const fs::path& target) {
  if (move_mount(tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    throw base::errno_error(errno, "cannot place a mount on " + target.string());
  }
}

std::uint64_t tree_size(const fs::path& directory, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && !entry.is_symlink()) sum += entry.file_size();
    if (sum > limit) break;
  }
  return sum;
}

void give(const fs::path& path, Identity owner) {
  if (lchown(path.c_str(), owner.user, owner.group) != 0) {
    throw base::errno_error(errno, "cannot give " + path.string() + " to the program's user");
  }
}

void give_tree(const fs::path& path, Identity owner) {
  give(path, owner);
  std::error_code ec;
  if (!fs::is_directory(fs::symlink_status(path, ec))) return;
  for (const auto& entry : fs::recursive_directory_iterator(path)) give(entry.path(), owner);
}

}  // namespace

Mounter::Mounter(MounterSettings settings, std::vector<std::string>& notes)
    : settings_(std::move(settings)), notes_(notes) {
  settings_.root = fs::weakly_canonical(settings_.root);
}

void Mounter::make_private_root() {
  mount_or_throw(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  base::make_directories(settings_.root);
  mount_or_throw("meridian", settings_.root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m");
  mount_or_throw(nullptr, settings_.root, nullptr, MS_UNBINDABLE, nullptr);
}

void Mounter::enter_root() {
  set_read_only(settings_.root);
  if (chdir(settings_.root.c_str()) != 0) throw base::errno_error(errno, "cannot enter the root");
  if (syscall(SYS_pivot_root, ".", ".") != 0) throw base::errno_error(errno, "cannot pivot_root");
  if (umount2(".", MNT_DETACH) != 0) throw base::errno_error(errno, "cannot leave the host's root");
  if (chdir("/") != 0) throw base::errno_error(errno, "cannot enter /");
}

void Mounter::bind(const fs::path& host, const fs::path& target) {
  mount_or_throw(host.c_str(), target, nullptr, MS_BIND | MS_REC, nullptr);
}

void Mounter::bind_read_only(const fs::path& host, const fs::path& target) {
  bind(host, target);
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, target.c_str(), AT_RECURSIVE, &attributes, sizeof attributes) != 0) {
    throw base::errno_error(errno, "cannot make " + target.string() + " read-only");
  }
}

void Mounter::set_read_only(const fs::path& target) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (mount_setattr(AT_FDCWD, target.c_str(), 0, &attributes, sizeof attributes) != 0) {
    throw base::errno_error(errno, "cannot make " + target.string() + " read-only");
  }
}

void Mounter::bind_device(const fs::path& device) {
  std::error_code ec;
  if (!fs::exists(device, ec)) return;
  const fs::path target = settings_.root / device.relative_path();
  const base::UniqueFd made(open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
  mount_or_throw(device.c_str(), target, nullptr, MS_BIND, nullptr);
}

void Mounter::mount_tmpfs(const fs::path& target, const std::string& options, unsigned long flags) {
  mount_or_throw("meridian", target, "tmpfs", flags, options.c_str());
}

void Mounter::make_room(const fs::path& directory) {
  struct Entry {
    fs::path name;
    base::UniqueFd fd;
    bool directory;
    fs::path link;
  };
  std::vector<Entry> entries;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const bool link = entry.is_symlink();
    entries.push_back({entry.path().filename(),
                       base::UniqueFd(open(entry.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)),
                       !link && entry.is_directory(),
                       link ? fs::read_symlink(entry.path()) : fs::path()});
  }
  mount_tmpfs(directory, "mode=0755,size=1m", MS_NOSUID | MS_NODEV);
  for (const Entry& entry : entries) {
    const fs::path target = directory / entry.name;
    if (!entry.link.empty()) {
      fs::create_symlink(entry.link, target);
      continue;
    }
    make_mount_point(target, entry.directory);
    bind("/proc/self/fd/" + std::to_string(entry.fd.get()), target);
  }
}

// Nothing is made or mounted outside the new root, whatever links a program left in a directory
// that is mounted again.
void Mounter::require_inside(const fs::path& target) const {
  const auto [end, rest] = std::ranges::mismatch(settings_.root, fs::weakly_canonical(target));
  if (end != settings_.root.end()) {
    throw base::Error(base::Code::permission_denied,
                      "a symbolic link leads out of the instance: " + target.string());
  }
}

// mkdir -p and an empty file where needed; a read-only part of the view gets room first.
void Mounter::make_mount_point(const fs::path& target, bool directory) {
  std::error_code ec;
  if (fs::exists(target, ec)) return;
  fs::path existing = target.parent_path();
  while (!fs::exists(existing, ec)) existing = existing.parent_path();
  if (access(existing.c_str(), W_OK) != 0) make_room(existing);
  base::make_directories(directory ? target : target.parent_path());
  if (!directory) base::open_file(target, O_CREAT | O_WRONLY);
}

void Mounter::attach(const Mount& mount) {
  const fs::path target = settings_.root / mount.inside.lexically_normal().relative_path();
  const bool directory = fs::is_directory(mount.host);
  if (!fs::exists(mount.host)) {
    throw base::Error(base::Code::not_found, mount.host.string() + " does not exist");
  }
  require_inside(target);
  make_mount_point(target, directory);
  if (mount.mode == Mount::Mode::overlay && directory) return attach_overlay(mount, target);
  attach_tree(mount.host, target);
  if (mount.mode != Mount::Mode::read_write) {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (mount_setattr(AT_FDCWD, target.c_str(), AT_RECURSIVE, &attributes, sizeof attributes) !=
        0) {
      throw base::errno_error(errno, "cannot make " + target.string() + " read-only");
    }
  }
}

void Mounter::attach(const Mount& mount, FileServer& server) {
  const fs::path target = settings_.root / mount.inside.lexically_normal().relative_path();
  require_inside(target);
  make_mount_point(target, true);
  mount_files(server, target, settings_.owner);
}

const base::UniqueFd& Mounter::mapping_from(Identity on_disk) {
  base::UniqueFd& mapping = mappings_[{on_disk.user, on_disk.group}];
  if (!mapping) mapping = make_exchanging_namespace(on_disk, settings_.owner);
  return mapping;
}

// Shows `host` at `target` with the program as owner of what belongs to host's owner.
void Mounter::attach_tree(const fs::path& host, const fs::path& target) {
  const Identity on_disk = owner_of(host);
  if (!settings_.real_root || on_disk == settings_.owner) return bind(host, target);
  try {
    place(clone_mapped(host, mapping_from(on_disk)), target);
  } catch (const base::Error& error) {
    // This file system or kernel has no id-mapped mounts: change the owner on disk instead.
    notes_.push_back("files of " + host.string() +
                     " were given to the program's user: " + error.message());
    give_tree(host, settings_.owner);
    bind(host, target);
  }
}

void Mounter::attach_overlay(const Mount& mount, const fs::path& target) {
  if (try_overlay(mount.host, target)) return;
  const std::string reason = strerror(errno);
  constexpr std::uint64_t kCopyLimit = 1u << 30;
  if (tree_size(mount.host, kCopyLimit) <= kCopyLimit) {
    const fs::path copy = settings_.scratch / ("copy-" + std::to_string(overlays_));
    fs::copy(mount.host, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    if (settings_.real_root) give_tree(copy, settings_.owner);
    bind(copy, target);
    notes_.push_back(mount.inside.string() + " is a copy: the kernel refused an overlay (" +
                     reason + ")");
    return;
  }
  bind_read_only(mount.host, target);
  notes_.push_back(mount.inside.string() + " is read-only: the kernel refused an overlay (" +
                   reason + ")");
}

// False with errno set when the kernel refuses.
bool Mounter::try_overlay(const fs::path& lower, const fs::path& target) {
  const std::string number = std::to_string(++overlays_);
  const fs::path upper = settings_.scratch / ("upper-" + number);
  const fs::path work = settings_.scratch / ("work-" + number);
  make_owned_directory(upper, 0755);
  make_owned_directory(work, 0755);
  base::UniqueFd lower_fd;
  const Identity on_disk = owner_of(lower);
  if (settings_.real_root && on_disk != settings_.owner) {
    // Layers must be attached mounts of this namespace, so the mapped clone gets a place.
    const fs::path place_of_lower = settings_.scratch / ("lower-" + number);
    base::make_directories(place_of_lower);
    try {
      place(clone_mapped(lower, mapping_from(on_disk)), place_of_lower);
    } catch (const base::Error&) {
      errno = EINVAL;
      return false;
    }
    lower_fd = base::open_file(place_of_lower, O_PATH | O_DIRECTORY);
  } else {
    lower_fd = base::open_file(lower, O_PATH | O_DIRECTORY);
  }
  const base::UniqueFd upper_fd = base::open_file(upper, O_PATH | O_DIRECTORY);
  const base::UniqueFd work_fd = base::open_file(work, O_PATH | O_DIRECTORY);
  // Through /proc, because a path may hold the ':' and ',' that separate options.
  const auto path = [](const base::UniqueFd& fd) {
    return "/proc/self/fd/" + std::to_string(fd.get());
  };
  std::string options =
      "lowerdir=" + path(lower_fd) + ",upperdir=" + path(upper_fd) + ",workdir=" + path(work_fd);
  // Without privilege over the machine, overlayfs may keep its marks in user.* attributes only.
  if (!settings_.real_root) options += ",userxattr";
  return mount("overlay", target.c_str(), "overlay", MS_NODEV | MS_NOSUID, options.c_str()) == 0;
}

void Mounter::make_owned_directory(const fs::path& path, mode_t mode) {
  base::make_directories(path);
  if (chmod(path.c_str(), mode) != 0) {
    throw base::errno_error(errno, "cannot chmod " + path.string());
  }
  give_to_program(path);
}

void Mounter::give_to_program(const fs::path& path) {
  if (settings_.real_root) give(path, settings_.owner);
}

}  // namespace meridian::run
