// SPDX-License-Identifier: Apache-2.0
#include "net/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace meridian::net {
namespace {

using base::Code;
using base::Error;

constexpr int kBacklog = 1024;

std::string text_of(const sockaddr_storage& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
    return "[" + std::string(host) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return "unix";
}

std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  const auto port = address.ss_family == AF_INET6
                        ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                        : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return ntohs(port);
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error(Code::invalid_argument, path + ": too long for a unix socket (at most " +
                                            std::to_string(sizeof address.sun_path - 1) +
                                            " bytes); use a shorter directory");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Removes a socket file that nobody listens on any more.
void remove_stale_socket(const sockaddr_un& address) {
  const char* path = address.sun_path;
  struct stat info{};
  if (::lstat(path, &info) != 0) return;
  if (!S_ISSOCK(info.st_mode)) {
    throw Error(Code::failed_precondition, std::string(path) + ": exists and is not a socket");
  }
  const base::UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EAGAIN) {
    throw Error(Code::failed_precondition,
                std::string(path) + " is in use (another meridian?); stop it first");
  }
  ::unlink(path);
}

}  // namespace

Listener::Listener(const ListenAddress& address) {
  if (address.unix_path.empty()) {
    bind_tcp(address);
  } else {
    bind_unix(address.unix_path);
  }
}

void Listener::bind_tcp(const ListenAddress& address) {
  const std::string place =
      (address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]") +
      ":" + std::to_string(address.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) {
    throw Error(Code::invalid_argument,
                "cannot listen on " + place + ": " + ::gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  // A name with both kinds of address means the older one: clients try it in any case.
  for (addrinfo* one = found; one && found->ai_family != AF_INET; one = one->ai_next) {
    if (one->ai_family == AF_INET) found = one;
  }
  socket_.reset(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) throw base::errno_error(errno, "cannot listen on " + place);
  const int on = 1;
  ::setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd(), kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      throw Error(Code::failed_precondition,
                  place + " is in use (another meridian? `ss -ltnp` shows the program); choose " +
                      "another port with --port");
    }
    throw base::errno_error(errno, "cannot listen on " + place);
  }
  port_ = port_of(fd());
}

void Listener::bind_unix(const std::string& path) {
  const sockaddr_un address = unix_address(path);
  remove_stale_socket(address);
  socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) throw base::errno_error(errno, "cannot listen on " + path);
  // The mode of the socket becomes the mode of the file: never open to others, not for a moment.
  ::fchmod(fd(), 0600);
  if (::bind(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(fd(), kBacklog) != 0) {
    throw base::errno_error(errno, "cannot listen on " + path);
  }
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) unix_inode_ = info.st_ino;
  unix_path_ = path;
}

Accepted Listener::accept() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Accepted accepted;
  accepted.socket.reset(
      ::accept4(fd(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!accepted.socket) {
    const bool nobody =
        errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED;
    accepted.error = nobody ? 0 : errno;
    return accepted;
  }
  accepted.peer = text_of(address);
  if (unix_path_.empty()) {
    const int on = 1;
    ::setsockopt(accepted.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return accepted;
}

void Listener::close() {
  socket_.reset();
  struct stat info{};
  // Not the socket of a successor that has taken the path over.
  if (!unix_path_.empty() && ::stat(unix_path_.c_str(), &info) == 0 && info.st_ino == unix_inode_) {
    ::unlink(unix_path_.c_str());
  }
  unix_path_.clear();
}

Listener::~Listener() { close(); }

}  // namespace meridian::net
