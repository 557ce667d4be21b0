// SPDX-License-Identifier: Apache-2.0
#include "s3/store/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/digest.h"
#include "base/strings.h"
#include "s3/error.h"
#include "s3/store/body_hasher.h"

namespace meridian::s3 {
namespace {

constexpr std::size_t piece_bytes = 512u << 10;
// Written pages are handed to the disk this often, so that the final sync has little left to do.
constexpr std::uint64_t write_back_every = 8u << 20;

// Moves the body into the file and past the hasher.
std::uint64_t copy_body(net::BodyReader& body, int fd, std::uint64_t offset, BodyHasher& hasher,
                        std::uint64_t limit, base::Durability durability) {
  std::uint64_t size = 0, written_back = 0;
  while (true) {
    auto buffer = hasher.take_buffer();
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto n = body.read(buffer.data() + filled, buffer.size() - filled);
      if (n == 0) break;
      filled += n;
    }
    if (filled == 0) return size;
    size += filled;
    if (size > limit)
      throw S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400)
          .with("MaxSizeAllowed", std::to_string(limit));
    const bool last = filled < buffer.size();
    buffer.resize(filled);
    const std::string_view bytes = hasher.add(std::move(buffer));
    base::write_all(fd, bytes);
    hasher.written();
    if (durability == base::Durability::synced && size - written_back >= write_back_every) {
      ::sync_file_range(fd, static_cast<off64_t>(offset + written_back),
                        static_cast<off64_t>(size - written_back), SYNC_FILE_RANGE_WRITE);
      written_back = size;
    }
    if (last) return size;
  }
}

void copy_slice(int from, std::uint64_t offset, std::uint64_t size, int to) {
  auto at = static_cast<off64_t>(offset);
  while (size > 0) {
    const auto n =
        ::copy_file_range(from, &at, to, nullptr, std::min<std::uint64_t>(size, 1u << 30), 0);
    if (n < 0) throw base::errno_error(errno, "copying object content");
    if (n == 0) throw base::Error(base::Code::data_loss, "object content is shorter than recorded");
    size -= static_cast<std::uint64_t>(n);
  }
}

}  // namespace

NewContent::~NewContent() {
  if (files_) files_->unlink_file(id_);
}

NewContent::NewContent(NewContent&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)), id_(std::move(other.id_)) {}

ContentFiles::ContentFiles(std::filesystem::path root, base::Durability durability,
                           base::Random& random)
    : root_(std::move(root)), durability_(durability), random_(random) {
  base::make_directories(root_ / "tmp");
}

std::string ContentFiles::new_id() { return random_.hex(24); }

std::filesystem::path ContentFiles::path_of(const std::string& id) const {
  return root_ / id.substr(0, 2) / id;
}

std::filesystem::path ContentFiles::temporary(const std::string& id) const {
  return root_ / "tmp" / id;
}

void ContentFiles::make_directory_of(const std::string& id) {
  auto& made = made_[std::stoul(id.substr(0, 2), nullptr, 16)];
  if (made.load(std::memory_order_relaxed)) return;
  base::make_directories(path_of(id).parent_path());
  if (durability_ == base::Durability::synced) base::sync_directory(root_);
  made.store(true, std::memory_order_relaxed);
}

namespace {
// A file below tmp/ that goes away unless it is renamed.
struct Temporary {
  std::filesystem::path path;
  base::UniqueFd fd;
  explicit Temporary(std::filesystem::path p)
      : path(std::move(p)), fd(base::open_file(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
    ::fchmod(fd.get(), 0644);  // whatever the umask
  }
  ~Temporary() { ::unlink(path.c_str()); }
};
}  // namespace

void ContentFiles::sync(int fd) const {
  if (durability_ == base::Durability::synced && ::fsync(fd) != 0)
    throw base::errno_error(errno, "syncing object content");
}

// The rename comes before the syncs: the journal then takes both at once, and the directory's own
// sync finds nothing left to write.
NewContent ContentFiles::publish(const std::string& id, int fd) {
  make_directory_of(id);
  if (::rename(temporary(id).c_str(), path_of(id).c_str()) != 0)
    throw base::errno_error(errno, "renaming " + temporary(id).string());
  NewContent content(*this, id);
  sync(fd);
  if (durability_ == base::Durability::synced) base::sync_directory(path_of(id).parent_path());
  return content;
}

// Writes the body from where the descriptor stands, which is at `offset` of its file. `land` makes
// it durable, while the last buffers are still hashed.
ContentFiles::Sums ContentFiles::store(net::BodyReader& body, int fd, std::uint64_t offset,
                                       std::uint64_t limit, std::optional<ChecksumKind> checksum,
                                       const std::function<void()>& land) const {
  const auto announced = body.length();
  if (announced && *announced > limit)
    throw S3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400)
        .with("ProposedSize", std::to_string(*announced))
        .with("MaxSizeAllowed", std::to_string(limit));
  const auto piece = announced ? std::min<std::uint64_t>(*announced + 1, piece_bytes) : piece_bytes;
  BodyHasher hasher(checksum, static_cast<std::size_t>(piece));
  const auto size = copy_body(body, fd, offset, hasher, limit, durability_);
  if (announced && size != *announced)
    throw S3Error("IncompleteBody",
                  "You did not provide the number of bytes specified by the Content-Length HTTP "
                  "header",
                  400);
  land();
  auto sums = hasher.finish();
  return {size, std::move(sums.md5), std::move(sums.checksum)};
}

ContentFiles::Received ContentFiles::receive(net::BodyReader& body,
                                             std::optional<ChecksumKind> checksum,
                                             std::uint64_t limit) {
  const auto id = new_id();
  const Temporary file(temporary(id));
  std::optional<NewContent> content;
  auto sums = store(body, file.fd.get(), 0, limit, checksum,
                    [&] { content.emplace(publish(id, file.fd.get())); });
  return {std::move(*content), sums.size, std::move(sums.md5), std::move(sums.checksum)};
}

NewContent ContentFiles::reserve() {
  const auto id = new_id();
  const Temporary file(temporary(id));
  return publish(id, file.fd.get());
}

ContentFiles::Sums ContentFiles::receive_at(const std::string& id, std::uint64_t offset,
                                            std::uint64_t size, net::BodyReader& body,
                                            std::optional<ChecksumKind> checksum) {
  const auto file = base::open_file(path_of(id), O_WRONLY | O_CLOEXEC);
  if (::lseek64(file.get(), static_cast<off64_t>(offset), SEEK_SET) < 0)
    throw base::errno_error(errno, "writing object content");
  try {
    return store(body, file.get(), offset, size, checksum, [&] { sync(file.get()); });
  } catch (...) {
    // On a full disk nothing else could be written, not even that the upload is given up.
    ::fallocate64(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off64_t>(offset), static_cast<off64_t>(size));
    throw;
  }
}

std::optional<ContentFiles::Received> ContentFiles::adopt(const std::filesystem::path& file) {
  const auto id = new_id();
  if (::rename(file.c_str(), temporary(id).c_str()) != 0) {
    if (errno == EXDEV) return std::nullopt;
    throw base::errno_error(errno, "taking " + file.string());
  }
  const auto path = temporary(id);
  struct Cleanup {
    const std::filesystem::path& path;
    ~Cleanup() { ::unlink(path.c_str()); }
  } cleanup{path};
  ::chmod(path.c_str(), 0644);
  auto fd = base::open_file(path, O_RDONLY | O_CLOEXEC);
  base::Digest md5(base::DigestKind::md5);
  std::string buffer(piece_bytes, '\0');
  std::uint64_t size = 0;
  while (true) {
    const auto n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0) throw base::errno_error(errno, "reading " + file.string());
    if (n == 0) break;
    md5.update({buffer.data(), static_cast<std::size_t>(n)});
    size += static_cast<std::uint64_t>(n);
  }
  return Received{publish(id, fd.get()), size, base::hex(md5.finish()), std::nullopt};
}

NewContent ContentFiles::duplicate(const std::string& id) {
  const auto fresh = new_id();
  make_directory_of(fresh);
  if (::link(path_of(id).c_str(), path_of(fresh).c_str()) == 0) {
    NewContent content(*this, fresh);
    if (durability_ == base::Durability::synced) base::sync_directory(path_of(fresh).parent_path());
    return content;
  }
  if (errno != EMLINK) throw base::errno_error(errno, "linking object content");
  struct stat status{};
  if (::stat(path_of(id).c_str(), &status) != 0)
    throw base::errno_error(errno, "linking object content");
  return copy_ranges({{id, 0, static_cast<std::uint64_t>(status.st_size)}});
}

NewContent ContentFiles::copy_ranges(const std::vector<Slice>& slices) {
  const auto id = new_id();
  Temporary file(temporary(id));
  for (const auto& slice : slices) {
    auto from = base::open_file(path_of(slice.id), O_RDONLY | O_CLOEXEC);
    copy_slice(from.get(), slice.offset, slice.size, file.fd.get());
  }
  return publish(id, file.fd.get());
}

std::optional<base::UniqueFd> ContentFiles::open(const std::string& id) const {
  base::UniqueFd fd(::open(path_of(id).c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  if (errno == ENOENT) return std::nullopt;
  throw base::errno_error(errno, "opening " + path_of(id).string());
}

void ContentFiles::unlink_file(const std::string& id) { ::unlink(path_of(id).c_str()); }

void ContentFiles::remove(const std::string& id) {
  auto pins = pins_.lock();
  if (pins->count.contains(id))
    pins->doomed.insert(id);
  else
    unlink_file(id);
}

ContentFiles::Pin::Pin(ContentFiles& files, std::vector<std::string> ids)
    : files_(files), ids_(std::move(ids)) {
  auto pins = files_.pins_.lock();
  for (const auto& id : ids_) ++pins->count[id];
}

ContentFiles::Pin::~Pin() {
  auto pins = files_.pins_.lock();
  for (const auto& id : ids_) {
    if (--pins->count[id] > 0) continue;
    pins->count.erase(id);
    if (pins->doomed.erase(id) > 0) files_.unlink_file(id);
  }
}

void ContentFiles::remove_unfinished() {
  for (const auto& entry : std::filesystem::directory_iterator(root_ / "tmp"))
    ::unlink(entry.path().c_str());
}

std::size_t ContentFiles::sweep(const std::set<std::string>& named) {
  remove_unfinished();
  std::size_t removed = 0;
  for (const auto& directory : std::filesystem::directory_iterator(root_)) {
    if (directory.path().filename() == "tmp") continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      if (named.contains(entry.path().filename().string())) continue;
      ::unlink(entry.path().c_str());
      ++removed;
    }
  }
  return removed;
}

}  // namespace meridian::s3
