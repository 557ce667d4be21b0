// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "net/exchange.h"

namespace meridian::net {
namespace {
constexpr std::size_t kRefill = 16 * 1024;  // smaller reads go through the inbox
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
}  // namespace

IncomingBody::IncomingBody(Connection& connection, const RequestHead& head,
                           std::chrono::milliseconds timeout, std::uint64_t min_rate)
    : connection_(connection),
      head_(head),
      timeout_(timeout),
      min_rate_(min_rate),
      left_(head.content_length.value_or(0)),
      finished_(!head.has_body()),
      awaits_permission_(head.expects_continue) {}

std::optional<std::uint64_t> IncomingBody::length() const {
  if (head_.chunked) return std::nullopt;
  return head_.content_length.value_or(0);
}

bool IncomingBody::surely_longer_than(std::uint64_t limit) const {
  return !finished_ && (head_.chunked ? chunks_.data_left() : left_) > limit;
}

void IncomingBody::fail(base::Error error, int status) {
  failure_ = error;
  failure_status_ = status;
  throw error;
}

std::size_t IncomingBody::read(char* buffer, std::size_t size) {
  if (failure_) throw base::Error(*failure_);
  if (size == 0) return 0;
  try {
    if (awaits_permission_) {
      awaits_permission_ = false;
      // A client that did not wait needs no permission.
      if (connection_.inbox.empty()) connection_.stream.write(kContinue, timeout_);
    }
    if (finished_) return 0;
    if (head_.chunked) return read_chunked(buffer, size);
    const std::size_t got = receive(buffer, std::min<std::uint64_t>(size, left_));
    left_ -= got;
    finished_ = left_ == 0;
    return got;
  } catch (const base::Error& error) {
    if (!failure_) {
      failure_ = error;
      failure_status_ = error.code() == base::Code::deadline_exceeded ? 408 : 0;
    }
    throw;
  }
}

// Waits for bytes from the peer, not longer than those that came before have earned.
std::size_t IncomingBody::wait_and_read(char* buffer, std::size_t size) {
  using std::chrono::milliseconds;
  const auto started = std::chrono::steady_clock::now();
  auto timeout = timeout_;
  if (min_rate_ > 0) {
    const auto earned = timeout_ + milliseconds(received_ * 1000 / min_rate_);
    const auto left = earned - std::chrono::duration_cast<milliseconds>(waited_);
    if (left <= milliseconds(0)) {
      throw base::Error(
          base::Code::deadline_exceeded,
          "the body came slower than " + std::to_string(min_rate_) + " bytes a second");
    }
    timeout = std::min(timeout_, left);
  }
  const std::size_t got = connection_.stream.read(buffer, size, timeout);
  waited_ += std::chrono::steady_clock::now() - started;
  received_ += got;
  return got;
}

std::size_t IncomingBody::receive(char* buffer, std::size_t size) {
  Inbox& inbox = connection_.inbox;
  if (!inbox.empty()) {
    const std::size_t count = std::min(size, inbox.pending().size());
    std::memcpy(buffer, inbox.pending().data(), count);
    inbox.drop(count);
    return count;
  }
  const std::size_t got = wait_and_read(buffer, size);
  if (got == 0) {
    fail(base::Error(base::Code::unavailable, "the peer closed before the end of its body"), 400);
  }
  return got;
}

void IncomingBody::refill_inbox() {
  char scratch[kRefill];
  const std::size_t got = wait_and_read(scratch, sizeof scratch);
  if (got == 0) {
    fail(base::Error(base::Code::unavailable, "the peer closed before the end of its body"), 400);
  }
  connection_.inbox.append(scratch, got);
}

std::size_t IncomingBody::read_chunked(char* buffer, std::size_t size) {
  Inbox& inbox = connection_.inbox;
  while (chunks_.data_left() == 0) {
    const auto dropped = chunks_.take_framing(inbox.pending());
    if (!dropped) {
      fail(base::Error(base::Code::invalid_argument, dropped.error().message),
           dropped.error().status);
    }
    inbox.drop(*dropped);
    if (chunks_.ended()) {
      finished_ = true;
      return 0;
    }
    if (chunks_.data_left() == 0) refill_inbox();
  }
  if (inbox.empty() && std::min<std::uint64_t>(size, chunks_.data_left()) < kRefill) refill_inbox();
  const std::size_t got = receive(buffer, std::min<std::uint64_t>(size, chunks_.data_left()));
  chunks_.took(got);
  return got;
}

bool IncomingBody::drain(std::uint64_t limit) {
  if (failure_ || awaits_permission_ || surely_longer_than(limit)) return false;
  char scratch[kRefill];
  std::uint64_t total = 0;
  try {
    while (!finished_ && total <= limit) total += read(scratch, sizeof scratch);
  } catch (const base::Error&) {
    return false;  // the answer is out; the connection just ends
  }
  return finished_;
}

}  // namespace meridian::net
