// SPDX-License-Identifier: Apache-2.0
#include "run/inside/forwarder.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace meridian::run {
namespace {

constexpr std::size_t kBufferBytes = 256u << 10;  // fewer system calls than with the usual 64 KiB
constexpr std::size_t kMaxConnections = 1024;

bool would_block() { return errno == EAGAIN || errno == EINTR; }

// Bytes on their way from one socket to the other.
class Direction {
 public:
  Direction(int from, int to) : from_(from), to_(to), buffer_(kBufferBytes) {}

  bool wants_input() const { return !ended_ && begin_ == end_; }
  bool wants_output() const { return begin_ != end_; }
  bool finished() const { return ended_ && begin_ == end_; }

  // Moves what can be moved; false when a side broke.
  bool move() {
    while (true) {
      if (begin_ == end_ && !fill()) return !broken_;
      if (!drain()) return !broken_;
    }
  }

 private:
  bool fill() {
    if (ended_) return false;
    const ssize_t n = read(from_, buffer_.data(), buffer_.size());
    if (n > 0) {
      begin_ = 0;
      end_ = static_cast<std::size_t>(n);
      return true;
    }
    if (n < 0 && would_block()) return false;
    if (n < 0) broken_ = true;
    ended_ = true;
    shutdown(to_, SHUT_WR);
    return false;
  }

  bool drain() {
    while (begin_ < end_) {
      const ssize_t n = send(to_, buffer_.data() + begin_, end_ - begin_, MSG_NOSIGNAL);
      if (n < 0) {
        broken_ = !would_block();
        return false;
      }
      begin_ += static_cast<std::size_t>(n);
    }
    return true;
  }

  int from_, to_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool ended_ = false, broken_ = false;
};

struct Connection {
  Connection(base::UniqueFd a, base::UniqueFd b)
      : inside(std::move(a)),
        daemon(std::move(b)),
        up(inside.get(), daemon.get()),
        down(daemon.get(), inside.get()) {}

  short events_inside() const {
    return static_cast<short>((up.wants_input() ? POLLIN : 0) |
                              (down.wants_output() ? POLLOUT : 0));
  }
  short events_daemon() const {
    return static_cast<short>((down.wants_input() ? POLLIN : 0) |
                              (up.wants_output() ? POLLOUT : 0));
  }
  bool move() { return up.move() && down.move() && !(up.finished() && down.finished()); }

  base::UniqueFd inside, daemon;
  Direction up, down;
};

// Through the open directory, because the daemon's path may be longer than an address holds.
base::UniqueFd connect_to_daemon(const std::string& whole_path) {
  const std::filesystem::path target(whole_path);
  const base::UniqueFd directory(
      open(target.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string path =
      "/proc/self/fd/" + std::to_string(directory.get()) + "/" + target.filename().string();
  base::UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!fd || path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
  fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

[[noreturn]] void forward(int listener, const std::string& unix_socket) {
  std::vector<std::unique_ptr<Connection>> connections;
  while (true) {
    const bool room = connections.size() < kMaxConnections;
    std::vector<pollfd> ready{{room ? listener : -1, POLLIN, 0}};
    for (const auto& c : connections) {
      ready.push_back({c->inside.get(), c->events_inside(), 0});
      ready.push_back({c->daemon.get(), c->events_daemon(), 0});
    }
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    std::vector<std::unique_ptr<Connection>> kept;
    for (std::size_t i = 0; i < connections.size(); ++i) {
      const bool active = ready[1 + 2 * i].revents != 0 || ready[2 + 2 * i].revents != 0;
      if (!active || connections[i]->move()) kept.push_back(std::move(connections[i]));
    }
    connections = std::move(kept);
    if (ready[0].revents == 0) continue;
    base::UniqueFd inside(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!inside) continue;
    const int on = 1;
    setsockopt(inside.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // While the daemon restarts, clients see a closed connection, which they retry.
    base::UniqueFd daemon = connect_to_daemon(unix_socket);
    if (!daemon) continue;
    connections.push_back(std::make_unique<Connection>(std::move(inside), std::move(daemon)));
  }
}

base::UniqueFd listen_on_loopback(std::uint16_t port) {
  base::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  // Each instance of a gang has a forwarder on the same port: any of them may end first.
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd.get(), 128) != 0) {
    throw base::errno_error(
        errno, "cannot listen on 127.0.0.1:" + std::to_string(port) + " inside the instance");
  }
  return fd;
}

}  // namespace

pid_t start_forwarder(std::uint16_t port, const std::string& unix_socket) {
  const base::UniqueFd listener = listen_on_loopback(port);
  const pid_t pid = fork();
  if (pid < 0) throw base::errno_error(errno, "cannot fork");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "meridian-fwd");
  dup2(listener.get(), 3);
  close_range(4, ~0U, 0);
  forward(3, unix_socket);
}

}  // namespace meridian::run
