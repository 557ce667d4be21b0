// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/sync.h"
#include "s3/in_parallel.h"
#include "s3/inflate.h"
#include "s3/local_copy.h"
#include "s3/staging.h"

namespace meridian::s3 {
namespace {

// Links are cheap but wait for the file system; downloads wait for the network.
constexpr std::size_t local_workers = 2, remote_workers = 16;
constexpr std::chrono::milliseconds progress_interval{100};

struct Shared {
  std::set<std::string> directories;  // made already
  Progress progress;
  StagedTree tree;
  std::chrono::steady_clock::time_point reported{};
};

bool same_size_and_time(const std::filesystem::path& path, const ObjectInfo& info) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) == info.size &&
         status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1'000'000 == info.last_modified.ms;
}

bool same_inode(const std::filesystem::path& a, const std::filesystem::path& b) {
  struct stat x{}, y{};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_ino == y.st_ino &&
         x.st_dev == y.st_dev;
}

class Stager {
 public:
  Stager(Objects& objects, const std::vector<ChannelObject>& channel,
         const std::filesystem::path& directory, Decompress decompress, const OnProgress& progress,
         std::stop_token stop)
      : objects_(objects),
        channel_(channel),
        directory_(directory),
        decompress_(decompress),
        on_progress_(progress),
        stop_(std::move(stop)) {}

  StagedTree run();

 private:
  void stage_one(const ChannelObject& object);
  bool link(const std::filesystem::path& from, const std::filesystem::path& to);
  void make_parent(const std::string& relative);
  void finish(const ChannelObject& object, bool linked);

  Objects& objects_;
  const std::vector<ChannelObject>& channel_;
  const std::filesystem::path& directory_;
  Decompress decompress_;
  const OnProgress& on_progress_;
  std::stop_token stop_;
  std::atomic<bool> can_link_{true};
  base::Sync<Shared> shared_;
};

StagedTree Stager::run() {
  base::make_directories(directory_);
  std::size_t workers = remote_workers;
  {
    auto shared = shared_.lock();
    for (const auto& object : channel_) {
      if (object.relative_path.empty()) continue;
      ++shared->progress.files_total;
      shared->progress.bytes_total += object.info.size;
    }
  }
  if (!channel_.empty() && objects_.find_pieces(channel_[0].bucket, channel_[0].info.key))
    workers = local_workers;
  in_parallel(channel_.size(), workers, [this](std::size_t i) {
    if (stop_.stop_requested()) throw base::Error(base::Code::cancelled, "staging was cancelled");
    if (!channel_[i].relative_path.empty()) stage_one(channel_[i]);
  });
  auto shared = shared_.lock();
  if (on_progress_) on_progress_(shared->progress);
  return shared->tree;
}

void Stager::stage_one(const ChannelObject& object) {
  const auto target = directory_ / object.relative_path;
  make_parent(object.relative_path);
  const auto& [bucket, info, relative] = object;
  if (decompress_ == Decompress::none) {
    if (const auto source = objects_.find_file(bucket, info.key)) {
      if (same_inode(*source, target)) return finish(object, true);
      if (clone_file(*source, target, info.last_modified)) return finish(object, false);
      if (link(*source, target)) return finish(object, true);
    }
    if (same_size_and_time(target, info)) return finish(object, false);
    copy_object(objects_, bucket, info, target);
    return finish(object, false);
  }
  const auto uri = Uri{bucket, info.key}.text();
  write_body(*inflate(objects_.open(bucket, info.key), uri), target, info.last_modified);
  finish(object, false);
}

bool Stager::link(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (!can_link_) return false;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (::link(from.c_str(), to.c_str()) == 0) return true;
    if (errno == EEXIST) {  // of an older version of the object
      ::unlink(to.c_str());
      continue;
    }
    if (errno == EXDEV || errno == EPERM) can_link_ = false;
    return false;  // also ENOENT: replaced a moment ago; and EMLINK
  }
  return false;
}

void Stager::make_parent(const std::string& relative) {
  const auto slash = relative.rfind('/');
  if (slash == std::string::npos) return;
  auto parent = relative.substr(0, slash);
  if (shared_.lock()->directories.contains(parent)) return;
  base::make_directories(directory_ / parent);
  shared_.lock()->directories.insert(std::move(parent));
}

void Stager::finish(const ChannelObject& object, bool linked) {
  auto shared = shared_.lock();
  ++shared->progress.files_done;
  shared->progress.bytes_done += object.info.size;
  ++shared->tree.files;
  shared->tree.bytes += object.info.size;
  shared->tree.shares_inodes |= linked;
  const auto now = std::chrono::steady_clock::now();
  if (!on_progress_ || now - shared->reported < progress_interval) return;
  shared->reported = now;
  on_progress_(shared->progress);
}

}  // namespace

StagedTree stage(Objects& objects, const std::vector<ChannelObject>& channel,
                 const std::filesystem::path& directory, Decompress decompress,
                 const OnProgress& progress, std::stop_token stop) {
  return Stager(objects, channel, directory, decompress, progress, std::move(stop)).run();
}

}  // namespace meridian::s3
