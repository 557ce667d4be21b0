// SPDX-License-Identifier: Apache-2.0
#include "run/message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace meridian::run {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxPacket = 1u << 20;
constexpr std::size_t kMaxFds = 8;

// An address below an open directory, so that the path fits whatever the directory is called.
sockaddr_un address_below(int directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  if (path.size() >= sizeof address.sun_path) {
    throw base::Error(base::Code::invalid_argument, "socket name '" + name + "' is too long");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

base::UniqueFd make_socket(int flags) {
  base::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!fd) throw base::errno_error(errno, "cannot make a unix socket");
  return fd;
}

void take_fds(const msghdr& header, std::vector<base::UniqueFd>& fds) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&header), c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

bool send_message(int socket, const base::JsonObject& body, std::span<const int> fds) {
  const std::string text = base::to_text(body);
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  if (!fds.empty() && fds.size() <= kMaxFds) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(text.size());
}

std::optional<Message> receive_message(int socket) {
  std::string text(kMaxPacket, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  Message message;
  take_fds(header, message.fds);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  auto parsed = base::parse_json({text.data(), static_cast<std::size_t>(got)}, {.depth = 8});
  if (!parsed || !parsed->is_object()) return std::nullopt;
  message.body = std::move(parsed->as_object());
  return message;
}

base::UniqueFd listen_at(const fs::path& directory, const std::string& name, mode_t mode) {
  const base::UniqueFd parent = base::open_file(directory, O_PATH | O_DIRECTORY);
  base::UniqueFd fd = make_socket(SOCK_NONBLOCK);
  unlinkat(parent.get(), name.c_str(), 0);
  const sockaddr_un address = address_below(parent.get(), name);
  const std::string where = (directory / name).string();
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw base::errno_error(errno, "cannot bind " + where);
  }
  if (chmod(address.sun_path, mode) != 0) throw base::errno_error(errno, "cannot chmod " + where);
  if (listen(fd.get(), 64) != 0) throw base::errno_error(errno, "cannot listen on " + where);
  return fd;
}

base::UniqueFd connect_to(const fs::path& directory, const std::string& name,
                          base::Duration patience) {
  const base::UniqueFd parent(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return {};
  base::UniqueFd fd = make_socket(0);
  const timeval limit{static_cast<time_t>(patience.count() / 1000),
                      static_cast<suseconds_t>(patience.count() % 1000 * 1000)};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const sockaddr_un address = address_below(parent.get(), name);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return fd;
}

base::UniqueFd accept_from(int listener) {
  return base::UniqueFd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

std::optional<uid_t> peer_uid(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return std::nullopt;
  }
  return credentials.uid;
}

}  // namespace meridian::run
