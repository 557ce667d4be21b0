// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <ctime>

#include "base/clock.h"
#include "base/error.h"
#include "base/strings.h"
#include "net/exchange.h"

namespace meridian::net {
namespace {

using base::Code;
using base::equals_ignoring_case;
using base::Error;

constexpr std::uint64_t kDrainLimit = 256 * 1024;

// The Date line, made once a second per thread.
const std::string& date_line() {
  static thread_local std::time_t made = 0;
  static thread_local std::string line;
  const std::time_t now = std::time(nullptr);
  if (now != made) {
    made = now;
    line = "Date: " + base::format_http_date({static_cast<std::int64_t>(now) * 1000}) + "\r\n";
  }
  return line;
}

bool breaks_line(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

bool has_no_body(int status) { return status / 100 == 1 || status == 204 || status == 304; }

iovec piece(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

std::string hex_size(std::size_t size) {
  char digits[20];
  char* at = digits + sizeof digits;
  *--at = '\n';
  *--at = '\r';
  do {
    *--at = "0123456789abcdef"[size % 16];
  } while ((size /= 16) != 0);
  return std::string(at, digits + sizeof digits);
}

}  // namespace

Answer::Answer(Connection& connection, const RequestHead& head, const IncomingBody& body,
               std::chrono::milliseconds timeout, const std::atomic<bool>& stopping)
    : connection_(connection),
      request_(head),
      body_(body),
      timeout_(timeout),
      stopping_(stopping),
      is_head_(head.method == "HEAD"),
      keep_(head.keep_alive) {}

void Answer::check_not_begun() const {
  if (begun_) throw Error(Code::internal, "the request is answered already");
}

void Answer::decide_keeping(const Headers& headers) {
  keep_ = keep_ && !stopping_ && !body_.failed() && !body_.awaits_permission() &&
          !body_.surely_longer_than(kDrainLimit);
  if (keep_) keep_ = !equals_ignoring_case(headers.get("connection"), "close");
}

std::string Answer::head_text(int status, const Headers& headers,
                              std::optional<std::uint64_t> length) {
  std::string text;
  text.reserve(256);
  text += "HTTP/1.1 ";
  text += std::to_string(status);
  text += ' ';
  text += reason_phrase(status);
  text += "\r\n";
  bool dated = false;
  bool named = false;
  for (const auto& [name, value] : headers.fields()) {
    // How the message is framed and whether the connection stays is decided here alone.
    if (equals_ignoring_case(name, "content-length") || equals_ignoring_case(name, "connection") ||
        equals_ignoring_case(name, "transfer-encoding")) {
      continue;
    }
    if (name.empty() || breaks_line(name) || breaks_line(value)) {
      throw Error(Code::internal, "the header '" + name + "' of an answer holds a line break");
    }
    dated |= equals_ignoring_case(name, "date");
    named |= equals_ignoring_case(name, "server");
    text.append(name).append(": ").append(value).append("\r\n");
  }
  if (!dated) text += date_line();
  if (!named) text += "Server: meridian\r\n";
  if (length) text.append("Content-Length: ").append(std::to_string(*length)).append("\r\n");
  if (framing_ == Framing::chunked) text += "Transfer-Encoding: chunked\r\n";
  if (!keep_) {
    text += "Connection: close\r\n";
  } else if (request_.minor_version == 0) {
    text += "Connection: keep-alive\r\n";
  }
  text += "\r\n";
  return text;
}

void Answer::send(Response response) {
  check_not_begun();
  decide_keeping(response.headers);
  std::optional<std::uint64_t> length;
  if (!has_no_body(response.status)) length = response.body.size();
  if (is_head_) {
    // The length a GET would have: announced by the handler, or that of the body it gave.
    const auto announced = base::to_uint(response.headers.get("content-length"));
    if (announced && !has_no_body(response.status)) length = announced;
  }
  const std::string head = head_text(response.status, response.headers, length);
  begun_ = true;
  std::array<iovec, 2> pieces{piece(head), piece(response.body)};
  const bool with_body = !is_head_ && !has_no_body(response.status);
  connection_.stream.write(std::span(pieces).first(with_body ? 2 : 1), timeout_);
}

void Answer::begin(int status, Headers headers) {
  check_not_begun();
  decide_keeping(headers);
  const auto announced = headers.find("content-length");
  std::optional<std::uint64_t> length;
  if (has_no_body(status)) {
    framing_ = Framing::none;
  } else if (announced) {
    length = base::to_uint(*announced);
    if (!length) throw Error(Code::internal, "Content-Length '" + *announced + "' of an answer");
    framing_ = Framing::length;
    left_ = *length;
  } else if (request_.minor_version == 0) {
    framing_ = Framing::until_close;
    keep_ = false;
  } else {
    framing_ = Framing::chunked;
  }
  unsent_head_ = head_text(status, headers, length);
  begun_ = true;
  // With a length the body follows at once. A watch may be silent for minutes: its client must see
  // the head now.
  if (framing_ != Framing::length || is_head_) write_with_head({}, {}, {});
}

void Answer::count(std::uint64_t bytes) {
  if (!begun_) throw Error(Code::internal, "a body was written before its head");
  if (framing_ == Framing::none && bytes > 0) {
    throw Error(Code::internal, "an answer of this status has no body");
  }
  if (framing_ != Framing::length) return;
  if (bytes > left_) throw Error(Code::internal, "more was written than Content-Length announced");
  left_ -= bytes;
}

void Answer::write_with_head(std::string_view before, std::string_view bytes,
                             std::string_view after) {
  const std::string head = std::exchange(unsent_head_, {});
  std::array<iovec, 4> pieces{piece(head), piece(before), piece(bytes), piece(after)};
  connection_.stream.write(pieces, timeout_);
}

void Answer::write(std::string_view bytes) {
  count(bytes.size());
  if (bytes.empty() || is_head_) return;  // an empty chunk would be the last one
  if (framing_ == Framing::chunked) {
    write_with_head(hex_size(bytes.size()), bytes, "\r\n");
  } else {
    write_with_head({}, bytes, {});
  }
}

void Answer::send_file(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (framing_ == Framing::chunked) {
    throw Error(Code::internal, "a file is sent with a Content-Length only");
  }
  count(bytes);
  if (bytes == 0 || is_head_) return;
  if (!unsent_head_.empty())
    connection_.stream.write_more(std::exchange(unsent_head_, {}), timeout_);
  connection_.stream.send_file(fd, offset, bytes, timeout_);
}

bool Answer::peer_gone() const { return stopping_ || connection_.stream.peer_closed(); }

void Answer::finish() {
  if (is_head_) return;
  if (framing_ == Framing::chunked) write_with_head({}, "0\r\n\r\n", {});
  if (framing_ != Framing::length) return;
  if (!unsent_head_.empty()) write_with_head({}, {}, {});
  if (left_ > 0) {
    throw Error(Code::internal, "an answer ended " + std::to_string(left_) + " bytes too early");
  }
}

}  // namespace meridian::net
