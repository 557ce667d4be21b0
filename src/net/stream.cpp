// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "base/error.h"

namespace meridian::net {
namespace {

using base::Code;
using base::Error;

Stream::Progress of_errno(Stream::Outcome when_full) {
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return {again ? when_full : Stream::Outcome::failed};
}

Error gone() { return Error(Code::unavailable, "the peer has closed the connection"); }

void drop_front(std::span<iovec>& pieces, std::size_t count) {
  while (!pieces.empty() && count >= pieces[0].iov_len) {
    count -= pieces[0].iov_len;
    pieces = pieces.subspan(1);
  }
  if (count == 0) return;
  pieces[0].iov_base = static_cast<char*>(pieces[0].iov_base) + count;
  pieces[0].iov_len -= count;
}

}  // namespace

Stream::Progress Stream::tls_progress(int result) {
  if (result > 0) return {Outcome::moved, static_cast<std::size_t>(result)};
  const int error = SSL_get_error(tls_.get(), result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_WANT_READ: return {Outcome::want_read};
    case SSL_ERROR_WANT_WRITE: return {Outcome::want_write};
    case SSL_ERROR_ZERO_RETURN: return {Outcome::end};
    default: return {Outcome::failed};
  }
}

Stream::Progress Stream::try_greet() {
  if (!tls_ || greeted_) return {Outcome::moved};
  ERR_clear_error();
  const Progress progress = tls_progress(SSL_accept(tls_.get()));
  greeted_ = progress.outcome == Outcome::moved;
  return progress;
}

Stream::Progress Stream::try_read(char* buffer, std::size_t size) {
  if (tls_) {
    ERR_clear_error();
    return tls_progress(
        SSL_read(tls_.get(), buffer, static_cast<int>(std::min<std::size_t>(size, INT_MAX))));
  }
  const ssize_t got = ::recv(fd(), buffer, size, 0);
  if (got < 0) return of_errno(Outcome::want_read);
  return {got == 0 ? Outcome::end : Outcome::moved, static_cast<std::size_t>(got)};
}

Stream::Progress Stream::try_write(std::string_view bytes, int flags) {
  if (tls_) {
    ERR_clear_error();
    return tls_progress(SSL_write(tls_.get(), bytes.data(),
                                  static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX))));
  }
  const ssize_t sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
  if (sent < 0) return of_errno(Outcome::want_write);
  return {Outcome::moved, static_cast<std::size_t>(sent)};
}

Stream::Progress Stream::try_discard() {
  static thread_local char scratch[64 * 1024];
  const ssize_t got = ::recv(fd(), scratch, sizeof scratch, 0);
  if (got < 0) return of_errno(Outcome::want_read);
  return {got == 0 ? Outcome::end : Outcome::moved, static_cast<std::size_t>(got)};
}

void Stream::wait(Outcome wanted, Timeout timeout) const {
  const short events = wanted == Outcome::want_read ? POLLIN : POLLOUT;
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<Timeout>(until - std::chrono::steady_clock::now());
    pollfd one{fd(), events, 0};
    const auto ms = std::clamp<Timeout::rep>(left.count() + 1, 0, INT_MAX);
    const int ready = ::poll(&one, 1, static_cast<int>(ms));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw base::errno_error(errno, "waiting for the peer");
    if (ready == 0) {
      throw Error(Code::deadline_exceeded,
                  "the peer was silent for " + std::to_string(timeout.count()) + " ms",
                  base::Retry::yes);
    }
  }
}

std::size_t Stream::read(char* buffer, std::size_t size, Timeout timeout) {
  while (true) {
    const Progress progress = try_read(buffer, size);
    switch (progress.outcome) {
      case Outcome::moved: return progress.bytes;
      case Outcome::end: return 0;
      case Outcome::failed: throw gone();
      default: wait(progress.outcome, timeout);
    }
  }
}

void Stream::write_more(std::string_view bytes, Timeout timeout) {
  write_flagged(bytes, MSG_MORE, timeout);
}

void Stream::write_flagged(std::string_view bytes, int flags, Timeout timeout) {
  while (!bytes.empty()) {
    const Progress progress = try_write(bytes, flags);
    switch (progress.outcome) {
      case Outcome::moved: bytes.remove_prefix(progress.bytes); break;
      case Outcome::end:
      case Outcome::failed: throw gone();
      default: wait(progress.outcome, timeout);
    }
  }
}

void Stream::write(std::span<iovec> pieces, Timeout timeout) {
  if (tls_) {
    // One record for small answers instead of one per piece.
    std::size_t total = 0;
    for (const iovec& piece : pieces) total += piece.iov_len;
    if (total <= 16 * 1024) {
      std::string joined;
      joined.reserve(total);
      for (const auto& piece : pieces) {
        joined.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
      }
      return write(joined, timeout);
    }
    for (const iovec& piece : pieces) {
      write({static_cast<const char*>(piece.iov_base), piece.iov_len}, timeout);
    }
    return;
  }
  drop_front(pieces, 0);
  while (!pieces.empty()) {
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t sent = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      drop_front(pieces, static_cast<std::size_t>(sent));
    } else if (of_errno(Outcome::want_write).outcome == Outcome::failed) {
      throw gone();
    } else {
      wait(Outcome::want_write, timeout);
    }
  }
}

void Stream::send_file(int file, std::uint64_t offset, std::uint64_t count, Timeout timeout) {
  if (tls_) return copy_file(file, offset, count, timeout);
  auto at = static_cast<off_t>(offset);
  while (count > 0) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(count, 1u << 30));
    const ssize_t sent = ::sendfile(fd(), file, &at, piece);
    if (sent > 0) {
      count -= static_cast<std::uint64_t>(sent);
    } else if (sent == 0) {
      throw Error(Code::data_loss, "the file ends " + std::to_string(count) + " bytes too early");
    } else if (errno == EINVAL || errno == ENOSYS) {
      return copy_file(file, static_cast<std::uint64_t>(at), count, timeout);
    } else if (errno == EIO) {
      throw base::errno_error(errno, "reading a file to send");
    } else if (of_errno(Outcome::want_write).outcome == Outcome::failed) {
      throw gone();
    } else {
      wait(Outcome::want_write, timeout);
    }
  }
}

void Stream::copy_file(int file, std::uint64_t offset, std::uint64_t count, Timeout timeout) {
  std::vector<char> buffer(std::min<std::uint64_t>(count, 256 * 1024));
  while (count > 0) {
    const ssize_t got = ::pread(file, buffer.data(), std::min<std::uint64_t>(count, buffer.size()),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw base::errno_error(errno, "reading a file to send");
    if (got == 0) {
      throw Error(Code::data_loss, "the file ends " + std::to_string(count) + " bytes too early");
    }
    write({buffer.data(), static_cast<std::size_t>(got)}, timeout);
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

void Stream::end_writing() {
  if (tls_ && greeted_) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
    ERR_clear_error();
  }
  ::shutdown(fd(), SHUT_WR);
}

void Stream::interrupt() { ::shutdown(fd(), SHUT_RDWR); }

bool Stream::peer_closed() const {
  pollfd one{fd(), POLLRDHUP, 0};
  return ::poll(&one, 1, 0) > 0 && (one.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace meridian::net
