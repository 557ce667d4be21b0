// SPDX-License-Identifier: Apache-2.0
#include "run/inside/fuse_answers.h"

#include <linux/fuse.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace meridian::run {
namespace {

constexpr std::uint64_t kForEver = 1u << 30;  // seconds
constexpr std::uint32_t kBlock = 4096;
constexpr std::uint32_t kWanted = FUSE_ASYNC_READ | FUSE_MAX_PAGES | FUSE_DO_READDIRPLUS |
                                  FUSE_READDIRPLUS_AUTO | FUSE_PARALLEL_DIROPS |
                                  FUSE_NO_OPEN_SUPPORT | FUSE_NO_OPENDIR_SUPPORT;

fuse_attr attributes_of(FileTree::Id id, const FileTree::Node& node, Identity owner) {
  fuse_attr a{};
  a.ino = id;
  a.size = node.size;
  a.blocks = (node.size + 511) / 512;
  a.mtime = a.ctime = a.atime = static_cast<std::uint64_t>(node.modified.ms / 1000);
  a.mtimensec = a.ctimensec = a.atimensec =
      static_cast<std::uint32_t>(node.modified.ms % 1000 * 1'000'000);
  a.mode = node.directory ? S_IFDIR | 0555 : S_IFREG | 0444;
  a.nlink = node.directory ? 2 : 1;
  a.uid = owner.user;
  a.gid = owner.group;
  return a;
}

fuse_entry_out entry_of(FileTree::Id id, const FileTree::Node& node, Identity owner) {
  fuse_entry_out entry{};
  entry.nodeid = id;
  entry.entry_valid = entry.attr_valid = kForEver;
  entry.attr = attributes_of(id, node, owner);
  return entry;
}

}  // namespace

// The body of a request: what follows its header.
struct FuseAnswers::Request {
  const fuse_in_header& header;
  std::span<const char> body;

  // Nothing when the body is shorter than a T.
  template <class T>
  std::optional<T> as() const {
    if (body.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, body.data(), sizeof value);
    return value;
  }
};

// The body of a reply, as far as there is room.
struct FuseAnswers::Reply {
  std::span<char> room;
  std::size_t used = 0;

  template <class T>
  int put(const T& value) {
    std::memcpy(room.data() + used, &value, sizeof value);
    used += sizeof value;
    return 0;
  }
};

namespace {

// What we take of what the kernel offers.
fuse_init_out accept(const fuse_init_in& offer) {
  fuse_init_out out{};
  out.major = FUSE_KERNEL_VERSION;
  out.minor = std::min<std::uint32_t>(FUSE_KERNEL_MINOR_VERSION, 31);  // what is used of it
  out.max_readahead = offer.max_readahead;
  out.flags = offer.flags & kWanted;
  out.max_background = 64;
  out.congestion_threshold = 48;
  out.max_write = 4096;
  out.time_gran = 1'000'000;
  out.max_pages = FuseAnswers::kMaxRead / kBlock;
  return out;
}

}  // namespace

std::size_t FuseAnswers::answer(std::span<const char> bytes, std::span<char> into) const {
  fuse_in_header header;
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.opcode == FUSE_FORGET || header.opcode == FUSE_BATCH_FORGET) return 0;
  Reply reply{into.subspan(sizeof(fuse_out_header))};
  int error = EIO;
  try {
    error = dispatch({header, bytes.subspan(sizeof header)}, reply);
  } catch (const base::Error& problem) {  // the end of this request, not of the others
    std::fprintf(stderr, "%s\n", problem.what());
  }
  if (error != 0) reply.used = 0;
  const fuse_out_header out{static_cast<std::uint32_t>(sizeof out + reply.used), -error,
                            header.unique};
  std::memcpy(into.data(), &out, sizeof out);
  return out.len;
}

int FuseAnswers::dispatch(const Request& request, Reply& reply) const {
  switch (request.header.opcode) {
    case FUSE_INIT: {
      const auto offer = request.as<fuse_init_in>();
      // A kernel of another major version asks again with ours.
      return offer && offer->major >= 7 ? reply.put(accept(*offer)) : EPROTO;
    }
    case FUSE_LOOKUP: return look_up(request, reply);
    case FUSE_GETATTR: return get_attributes(request, reply);
    case FUSE_READ: return read(request, reply);
    case FUSE_READDIR: return read_directory(request, reply, false);
    case FUSE_READDIRPLUS: return read_directory(request, reply, true);
    case FUSE_STATFS: return get_statistics(reply);
    default: return ENOSYS;
  }
}

int FuseAnswers::look_up(const Request& request, Reply& reply) const {
  const FileTree::Node* directory = tree_.find(request.header.nodeid);
  if (directory == nullptr) return ENOENT;
  const std::string_view name(request.body.data(),
                              strnlen(request.body.data(), request.body.size()));
  const auto child = tree_.find_child(*directory, name);
  // Node 0: the kernel remembers that there is none.
  if (!child) return reply.put(fuse_entry_out{.entry_valid = kForEver});
  return reply.put(entry_of(*child, *tree_.find(*child), owner_));
}

int FuseAnswers::get_attributes(const Request& request, Reply& reply) const {
  const FileTree::Node* node = tree_.find(request.header.nodeid);
  if (node == nullptr) return ENOENT;
  fuse_attr_out out{};
  out.attr_valid = kForEver;
  out.attr = attributes_of(request.header.nodeid, *node, owner_);
  return reply.put(out);
}

int FuseAnswers::read(const Request& request, Reply& reply) const {
  const auto wanted = request.as<fuse_read_in>();
  const FileTree::Node* node = tree_.find(request.header.nodeid);
  if (!wanted) return EIO;
  if (node == nullptr || node->directory) return EISDIR;
  reply.used = read_stretches(
      *node, wanted->offset,
      reply.room.first(std::min<std::size_t>({wanted->size, kMaxRead, reply.room.size()})));
  return 0;
}

// Offsets: 0 is ".", 1 is "..", 2 the first child.
int FuseAnswers::read_directory(const Request& request, Reply& reply, bool with_attributes) const {
  const auto wanted = request.as<fuse_read_in>();
  const FileTree::Node* directory = tree_.find(request.header.nodeid);
  if (!wanted) return EIO;
  if (directory == nullptr || !directory->directory) return ENOTDIR;
  const std::size_t room = std::min<std::size_t>({wanted->size, kMaxRead, reply.room.size()});
  const std::size_t count = directory->children.size() + 2;
  for (std::uint64_t at = wanted->offset; at < count; ++at) {
    const bool child = at >= 2;
    const FileTree::Id id = child     ? directory->children[at - 2]
                            : at == 1 ? directory->parent
                                      : request.header.nodeid;
    const FileTree::Node& node = *tree_.find(id);
    const std::string_view name = child ? std::string_view(node.name) : at == 1 ? ".." : ".";
    const std::size_t prefix = with_attributes ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;
    const std::size_t length = FUSE_DIRENT_ALIGN(prefix + name.size());
    if (reply.used + length > room) break;
    std::memset(reply.room.data() + reply.used, 0, length);
    fuse_direntplus entry{};
    if (child) entry.entry_out = entry_of(id, node, owner_);
    entry.dirent.ino = id;
    entry.dirent.off = at + 1;
    entry.dirent.namelen = static_cast<std::uint32_t>(name.size());
    entry.dirent.type = node.directory ? S_IFDIR >> 12 : S_IFREG >> 12;
    const char* begin = reinterpret_cast<const char*>(&entry) +
                        (with_attributes ? 0 : offsetof(fuse_direntplus, dirent));
    std::memcpy(reply.room.data() + reply.used, begin, prefix);
    std::memcpy(reply.room.data() + reply.used + prefix, name.data(), name.size());
    reply.used += length;
  }
  return 0;
}

int FuseAnswers::get_statistics(Reply& reply) const {
  fuse_statfs_out out{};
  out.st.bsize = out.st.frsize = kBlock;
  out.st.blocks = (tree_.byte_count() + kBlock - 1) / kBlock;
  out.st.files = tree_.file_count();
  out.st.namelen = 255;
  return reply.put(out);
}

}  // namespace meridian::run
