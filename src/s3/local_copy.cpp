// SPDX-License-Identifier: Apache-2.0
#include "s3/local_copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "base/file.h"
#include "s3/in_parallel.h"

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

// Appends a stretch of `from`, within the kernel where it can. False when it cannot, before
// anything was copied, and when the file ends too early.
bool copy_in_kernel(int from, std::uint64_t offset, std::uint64_t size, int to) {
  auto at = static_cast<off_t>(offset);
  for (auto left = size; left > 0;) {
    const auto n =
        ::copy_file_range(from, &at, to, nullptr, std::min<std::uint64_t>(left, 1u << 30), 0);
    if (n < 0 && left < size) throw base::errno_error(errno, "copying an object's file");
    if (n <= 0) return false;
    left -= static_cast<std::uint64_t>(n);
  }
  return true;
}

// Large objects come over several connections at once.
constexpr std::uint64_t stretch_bytes = 32u << 20;
constexpr std::size_t most_connections = 4;

void copy_stretches(Objects& objects, const std::string& bucket, const ObjectInfo& info, int to) {
  const auto count = (info.size + stretch_bytes - 1) / stretch_bytes;
  in_parallel(count, most_connections, [&](std::size_t i) {
    const auto offset = i * stretch_bytes;
    objects.fetch(bucket, info.key, to,
                  Stretch{offset, std::min(stretch_bytes, info.size - offset), info.etag});
  });
  // Each stretch is of one version; all of them are, if the object is still the one that was
  // listed.
  const auto after = objects.find(bucket, info.key);
  if (!after || after->etag != info.etag)
    throw base::Error(base::Code::failed_precondition,
                      Uri{bucket, info.key}.text() + " was replaced while it was read");
}

// The files that make up a local object, one after the other. False when one is gone.
bool join_pieces(const std::vector<Objects::LocalPiece>& pieces, int to) {
  for (const auto& piece : pieces) {
    const base::UniqueFd from(::open(piece.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from || !copy_in_kernel(from.get(), piece.offset, piece.size, to)) return false;
  }
  return true;
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

void write_at(int file, std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw base::errno_error(errno, "writing an object's file");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
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
  if (const auto pieces = objects.find_pieces(bucket, info.key)) {
    Unfinished file(to);
    if (join_pieces(*pieces, file.fd())) return file.finish(info.last_modified);
  }
  Unfinished file(to);
  if (info.size <= stretch_bytes)
    objects.fetch(bucket, info.key, file.fd());
  else
    copy_stretches(objects, bucket, info, file.fd());
  file.finish(info.last_modified);
}

}  // namespace meridian::s3
