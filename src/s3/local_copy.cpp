// SPDX-License-Identifier: Apache-2.0
#include "s3/local_copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/file.h"

namespace meridian::s3 {
namespace {

// A file beside its later name, renamed when it is whole.
class Unfinished {
 public:
  explicit Unfinished(const std::filesystem::path& target) : target_(target) {
    static std::atomic<unsigned> number{0};
    path_ = target.parent_path() /
            (".meridian-" + std::to_string(::getpid()) + "-" + std::to_string(++number));
    fd_ = base::open_file(path_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  int fd() const { return fd_.get(); }
  void finish(base::Timestamp modified) {
    const timespec time{modified.ms / 1000, (modified.ms % 1000) * 1'000'000};
    const timespec times[2]{time, time};
    ::futimens(fd_.get(), times);
    if (::rename(path_.c_str(), target_.c_str()) != 0)
      throw base::errno_error(errno, "renaming to " + target_.string());
    path_.clear();
  }

 private:
  std::filesystem::path target_, path_;
  base::UniqueFd fd_;
};

// Within the kernel where it can. Nothing when it cannot, before anything was copied.
bool copy_in_kernel(int from, int to) {
  bool any = false;
  while (true) {
    const auto n = ::copy_file_range(from, nullptr, to, nullptr, 1u << 30, 0);
    if (n == 0) return true;
    if (n < 0) {
      if (any) throw base::errno_error(errno, "copying an object's file");
      return false;
    }
    any = true;
  }
}

}  // namespace

bool clone_file(const std::filesystem::path& from, const std::filesystem::path& to,
                base::Timestamp modified) {
  static std::atomic<bool> possible{true};  // asked once: most file systems say no
  if (!possible) return false;
  base::UniqueFd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source) return false;
  Unfinished file(to);
  if (::ioctl(file.fd(), FICLONE, source.get()) != 0) {
    if (errno == EOPNOTSUPP || errno == ENOTTY || errno == EINVAL) possible = false;
    return false;
  }
  file.finish(modified);
  return true;
}

void write_body(net::BodyReader& body, const std::filesystem::path& to, base::Timestamp modified) {
  Unfinished file(to);
  std::string buffer(256u << 10, '\0');
  while (const auto n = body.read(buffer.data(), buffer.size()))
    base::write_all(file.fd(), {buffer.data(), n});
  file.finish(modified);
}

void copy_object(Objects& objects, const std::string& bucket, const ObjectInfo& info,
                 const std::filesystem::path& to) {
  if (const auto source = objects.find_file(bucket, info.key)) {
    base::UniqueFd from(::open(source->c_str(), O_RDONLY | O_CLOEXEC));
    Unfinished file(to);
    if (from && copy_in_kernel(from.get(), file.fd())) return file.finish(info.last_modified);
  }
  write_body(*objects.open(bucket, info.key), to, info.last_modified);
}

}  // namespace meridian::s3
