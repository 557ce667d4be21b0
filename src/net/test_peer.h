// For tests: the other end of a connection, byte for byte, and servers on free ports.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/file.h"

namespace meridian::net {

// A raw client: sends what it is told, reads until what it waits for.
class TestPeer {
 public:
  explicit TestPeer(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  explicit TestPeer(const std::string& unix_path)
      : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, unix_path.data(), unix_path.size());
    connected_ = ::connect(fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  int fd() const { return fd_.get(); }
  bool connected() const { return connected_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the test sees it by what comes back
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void end_writing() { ::shutdown(fd(), SHUT_WR); }

  // What has come up to the first `mark` and with it; all there is when the end comes first.
  std::string read_until(std::string_view mark) {
    while (buffer_.find(mark) == std::string::npos && receive()) {
    }
    const std::size_t at = buffer_.find(mark);
    return take(at == std::string::npos ? buffer_.size() : at + mark.size());
  }
  std::string read_exactly(std::size_t count) {
    while (buffer_.size() < count && receive()) {
    }
    return take(std::min(count, buffer_.size()));
  }
  std::string read_to_end() {
    while (receive()) {
    }
    return take(buffer_.size());
  }
  // A head, and the body its Content-Length announces.
  std::string read_answer() {
    std::string answer = read_until("\r\n\r\n");
    const std::size_t at = answer.find("Content-Length: ");
    if (at == std::string::npos) return answer;
    return answer + read_exactly(std::stoul(answer.substr(at + 16)));
  }
  bool silent_for(int ms) {
    pollfd one{fd(), POLLIN, 0};
    return buffer_.empty() && ::poll(&one, 1, ms) == 0;
  }

 private:
  bool receive() {
    pollfd one{fd(), POLLIN, 0};
    if (::poll(&one, 1, 10'000) <= 0) return false;  // a hung test fails by what is missing
    char piece[16 * 1024];
    const ssize_t got = ::recv(fd(), piece, sizeof piece, 0);
    if (got <= 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(got));
    return true;
  }
  std::string take(std::size_t count) {
    std::string front = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return front;
  }

  base::UniqueFd fd_;
  bool connected_ = false;
  std::string buffer_;
};

inline int status_of(std::string_view answer) {
  return answer.size() < 12 ? 0 : std::atoi(std::string(answer.substr(9, 3)).c_str());
}

}  // namespace meridian::net
