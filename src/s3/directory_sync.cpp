// What was synced is remembered on the file itself, as an extended attribute: a restarted daemon
// neither uploads everything again nor puts a stale copy over what another host wrote. Where there
// are no attributes it remembers as long as it lives.
//
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <set>

#include "s3/local_copy.h"
#include "s3/staging.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

constexpr const char* attribute = "user.meridian.synced";

std::string signature_of(const struct stat& status) {
  return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

std::string stored_signature(int fd) {
  std::string text(128, '\0');
  const auto n = ::fgetxattr(fd, attribute, text.data(), text.size());
  text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return text;
}

void store_signature(int fd, const std::string& signature) {
  ::fsetxattr(fd, attribute, signature.data(), signature.size(), 0);  // may not be possible
}

std::string signature_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? signature_of(status) : "";
}

}  // namespace

DirectorySync::DirectorySync(Objects& objects, std::filesystem::path directory, std::string bucket,
                             std::string prefix)
    : objects_(objects),
      directory_(std::move(directory)),
      bucket_(std::move(bucket)),
      prefix_(std::move(prefix)) {
  if (!prefix_.empty() && !prefix_.ends_with('/')) prefix_ += '/';
}

void DirectorySync::download(std::stop_token stop) {
  base::make_directories(directory_);
  for_each_object(objects_, bucket_, prefix_, [&](const ObjectInfo& info) {
    if (stop.stop_requested()) throw base::Error(base::Code::cancelled, "the sync was cancelled");
    const auto relative = info.key.substr(prefix_.size());
    // A folder marker, or a name that no file here has and that would come back as another key.
    if (relative.ends_with('/') || safe_relative_path(relative) != relative) return;
    const auto target = directory_ / relative;
    base::make_directories(target.parent_path());
    copy_object(objects_, bucket_, info, target);
    if (const auto file = open_beneath(directory_, relative)) {
      known_[relative] = signature_of(file->get());
      store_signature(file->get(), known_[relative]);
    }
  });
}

DirectorySync::Result DirectorySync::upload_changes(std::stop_token stop) {
  Result result;
  std::set<std::string> present;
  walk_tree(directory_, [&](const TreeEntry& entry) {
    if (S_ISDIR(entry.status.st_mode)) return;
    if (stop.stop_requested()) throw base::Error(base::Code::cancelled, "the sync was cancelled");
    const auto file = open_beneath(directory_, entry.path);
    if (!file) return;  // renamed or removed since, or a link that leads out
    present.insert(entry.path);
    const auto before = signature_of(file->get());
    auto& known = known_[entry.path];
    if (known == before || (known.empty() && stored_signature(file->get()) == before)) {
      known = before;
      return;
    }
    known = "changing";  // never a signature: uploaded again, and removed when the file goes
    objects_.put_file(bucket_, prefix_ + entry.path, path_of_descriptor(file->get()), stop);
    ++result.uploaded;
    if (signature_of(file->get()) != before) {  // still being written: again next time
      ++result.pending;
      return;
    }
    known = before;
    store_signature(file->get(), before);
  });
  for (auto it = known_.begin(); it != known_.end();) {
    if (present.contains(it->first)) {
      ++it;
      continue;
    }
    if (!it->second.empty()) {  // it was synced once
      objects_.remove(bucket_, prefix_ + it->first);
      ++result.removed;
    }
    it = known_.erase(it);
  }
  return result;
}

}  // namespace meridian::s3
