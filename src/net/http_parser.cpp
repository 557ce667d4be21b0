// SPDX-License-Identifier: Apache-2.0
#include "net/http_parser.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/strings.h"

namespace meridian::net {
namespace {

using base::equals_ignoring_case;

// Classes of bytes, one bit each.
constexpr unsigned char kToken = 1;   // names of methods and fields (RFC 9110 §5.6.2)
constexpr unsigned char kValue = 2;   // what a field value may hold
constexpr unsigned char kTarget = 4;  // what a request target may hold
constexpr unsigned char kHost = 8;    // what a host name may hold, without port and brackets

constexpr bool is_alphanumeric(int c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr std::array<unsigned char, 256> make_classes() {
  std::array<unsigned char, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    unsigned char bits = 0;
    if (is_alphanumeric(c)) bits = kToken | kHost;
    for (const char t : std::string_view("!#$%&'*+-.^_`|~")) bits |= t == c ? kToken : 0;
    for (const char t : std::string_view("-._~%")) bits |= t == c ? kHost : 0;
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) bits |= kValue;
    if (c > 0x20 && c < 0x7f && c != '#') bits |= kTarget;
    classes[static_cast<std::size_t>(c)] = bits;
  }
  return classes;
}

constexpr auto kClasses = make_classes();

bool all_of(std::string_view text, unsigned char wanted) {
  return std::all_of(text.begin(), text.end(),
                     [&](unsigned char c) { return (kClasses[c] & wanted) != 0; });
}

bool is_token(std::string_view text) { return !text.empty() && all_of(text, kToken); }

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view trim_blanks(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// host[:port] with a name, an IPv4 address or a bracketed IPv6 address.
bool is_host(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return false;
    port = rest.empty() ? rest : rest.substr(1);
    const auto of_address = [](char c) { return is_alphanumeric(c) || c == ':' || c == '.'; };
    if (!std::all_of(host.begin(), host.end(), of_address)) return false;
  } else {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (!all_of(host, kHost)) return false;
  }
  return !host.empty() && port.size() <= 5 && all_digits(port);
}

Refusal too_many_fields() {
  return {431, "more than " + std::to_string(kMaxHeadFields) + " header fields"};
}

Refusal bad(std::string message) { return {400, std::move(message)}; }

std::optional<Refusal> take_target(RequestHead& head, std::string_view target,
                                   std::string* authority) {
  if (target.empty() || !all_of(target, kTarget)) {
    return bad("the request target holds characters that must be percent-encoded");
  }
  if (target == "*") {
    if (head.method != "OPTIONS") return bad("'*' is a target for OPTIONS only");
  } else if (target[0] != '/') {
    const std::size_t scheme = target.starts_with("http://") ? 7 : 8;
    if (scheme == 8 && !target.starts_with("https://")) return bad("unknown form of target");
    const std::size_t slash = std::min(target.find_first_of("/?", scheme), target.size());
    *authority = target.substr(scheme, slash - scheme);
    target.remove_prefix(slash);
    if (!is_host(*authority)) return bad("the target names no valid host");
  }
  head.target = target.starts_with('/') || target == "*" ? target : "/" + std::string(target);
  const std::size_t mark = std::min(head.target.find('?'), head.target.size());
  head.path = head.target.substr(0, mark);
  head.query = head.target.substr(std::min(mark + 1, head.target.size()));
  return std::nullopt;
}

std::optional<Refusal> take_request_line(RequestHead& head, std::string_view line,
                                         std::string* authority) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return bad("the request line is not 'METHOD target HTTP/1.1'");
  }
  head.method = line.substr(0, first);
  if (!is_token(head.method) || head.method.size() > 32) return bad("that is no method");
  const std::string_view version = line.substr(last + 1);
  const bool shaped = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.' &&
                      all_digits(version.substr(5, 1)) && all_digits(version.substr(7, 1));
  if (!shaped) return bad("the request line does not end in an HTTP version");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Refusal{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
  }
  head.minor_version = version[7] - '0';
  if (head.method == "CONNECT") return Refusal{501, "CONNECT is not supported"};
  return take_target(head, line.substr(first + 1, last - first - 1), authority);
}

std::optional<Refusal> take_field(RequestHead& head, std::string_view line) {
  if (line[0] == ' ' || line[0] == '\t') return bad("folded header lines are refused");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header line has no colon");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) return bad("a header name holds blanks or other forbidden characters");
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (!all_of(value, kValue)) return bad("a header value holds control characters");
  if (head.headers.fields().size() == kMaxHeadFields) {
    return too_many_fields();
  }
  head.headers.add(std::string(name), std::string(value));
  return std::nullopt;
}

// The fields that decide how the message is read. Each may come once at most.
struct Framing {
  const std::string* host = nullptr;
  const std::string* length = nullptr;
  const std::string* coding = nullptr;
  const std::string* expect = nullptr;
  bool close = false, keep_alive = false;
};

std::optional<Refusal> note_once(const std::string*& place, const std::string& value,
                                 const char* name) {
  if (place) return bad(std::string("more than one ") + name);
  place = &value;
  return std::nullopt;
}

void note_connection(Framing& framing, std::string_view value) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trim_blanks(value.substr(0, comma));
    framing.close |= equals_ignoring_case(option, "close");
    framing.keep_alive |= equals_ignoring_case(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

std::optional<Refusal> note_framing(Framing& framing, const std::string& name,
                                    const std::string& value) {
  const auto is = [&](std::string_view other) { return equals_ignoring_case(name, other); };
  switch (name.size()) {
    case 4: return is("host") ? note_once(framing.host, value, "Host") : std::nullopt;
    case 6: return is("expect") ? note_once(framing.expect, value, "Expect") : std::nullopt;
    case 10:
      if (is("connection")) note_connection(framing, value);
      return std::nullopt;
    case 14:
      return is("content-length") ? note_once(framing.length, value, "Content-Length")
                                  : std::nullopt;
    case 17:
      return is("transfer-encoding") ? note_once(framing.coding, value, "Transfer-Encoding")
                                     : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<Refusal> decide_body(RequestHead& head, const Framing& framing) {
  if (framing.coding) {
    if (framing.length) return bad("Content-Length and Transfer-Encoding exclude each other");
    if (head.minor_version == 0) return bad("Transfer-Encoding needs HTTP/1.1");
    if (!equals_ignoring_case(*framing.coding, "chunked")) {
      return Refusal{501, "the only Transfer-Encoding understood is 'chunked'"};
    }
    head.chunked = true;
  }
  if (framing.length) {
    const std::string& text = *framing.length;
    if (text.empty() || text.size() > 18 || !all_digits(text)) {
      return bad("Content-Length is not a number");
    }
    head.content_length = base::to_uint(text);
  }
  return std::nullopt;
}

std::optional<Refusal> decide_framing(RequestHead& head, const std::string& authority) {
  Framing framing;
  for (const auto& [name, value] : head.headers.fields()) {
    if (auto refusal = note_framing(framing, name, value)) return refusal;
  }
  if (!framing.host && head.minor_version == 1) return bad("no Host");
  if (framing.host && !is_host(*framing.host)) return bad("Host is not a valid host");
  if (auto refusal = decide_body(head, framing)) return refusal;
  head.keep_alive = !framing.close && (head.minor_version == 1 || framing.keep_alive);
  if (framing.expect && head.minor_version == 1) {
    if (!equals_ignoring_case(*framing.expect, "100-continue")) {
      return Refusal{417, "the only Expect understood is '100-continue'"};
    }
    head.expects_continue = true;
  }
  // The target's own host wins over the header (RFC 9112 §3.2.2).
  if (!authority.empty()) head.headers.set("Host", authority);
  if (head.headers.fields().size() > kMaxHeadFields) return too_many_fields();
  return std::nullopt;
}

}  // namespace

base::Result<std::size_t, Refusal> HeadFinder::find(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, kMaxHeadBytes);
  if (!head.empty() && head[0] != '\r' && !is_token(head.substr(0, 1))) {
    return bad("that is not HTTP");  // a TLS greeting, for example, has no line ends to wait for
  }
  while (scanned_ < head.size()) {
    const void* found = std::memchr(head.data() + scanned_, '\n', head.size() - scanned_);
    if (!found) break;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - head.data());
    if (at == 0 || head[at - 1] != '\r') return bad("a line feed without carriage return");
    const bool empty = at - line_start_ == 1;
    const bool in_front = line_start_ == 0;
    line_start_ = scanned_ = at + 1;
    if (empty && !in_front) return at + 1;
  }
  scanned_ = head.size();
  if (bytes.size() >= kMaxHeadBytes) {
    return Refusal{431, "the header is larger than " + base::format_bytes(kMaxHeadBytes)};
  }
  return std::size_t{0};
}

base::Result<RequestHead, Refusal> parse_head(std::string_view bytes) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  RequestHead head;
  std::string authority;
  bool first = true;
  while (true) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return bad("the header does not end");
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    if (line.empty()) break;
    auto refusal = first ? take_request_line(head, line, &authority) : take_field(head, line);
    if (refusal) return *std::move(refusal);
    first = false;
  }
  if (first || !bytes.empty()) return bad("that is not one header");
  if (auto refusal = decide_framing(head, authority)) return *std::move(refusal);
  return head;
}

base::Result<std::size_t, Refusal> ChunkDecoder::take_framing(std::string_view input) {
  std::size_t dropped = 0;
  while (data_left_ == 0 && state_ != State::end) {
    const std::string_view rest = input.substr(dropped);
    const std::size_t limit = state_ == State::trailer ? kMaxTrailerBytes : kMaxChunkLine;
    const std::size_t end = rest.substr(0, limit).find('\n');
    if (end == std::string_view::npos) {
      if (rest.size() >= limit) return bad("a line of the chunked framing is too long");
      break;
    }
    if (end == 0 || rest[end - 1] != '\r') return bad("a line feed without carriage return");
    if (auto refusal = take_line(rest.substr(0, end - 1))) return *std::move(refusal);
    dropped += end + 1;
  }
  return dropped;
}

std::optional<Refusal> ChunkDecoder::take_line(std::string_view line) {
  switch (state_) {
    case State::size: {
      const std::size_t digits =
          std::min(line.find_first_not_of("0123456789abcdefABCDEF"), line.size());
      if (digits == 0 || digits > 15) return bad("that is no chunk size");
      const std::string_view extension = line.substr(digits);
      if (!extension.empty() && (extension[0] != ';' || !all_of(extension, kValue))) {
        return bad("something other than an extension follows the chunk size");
      }
      for (const char c : line.substr(0, digits)) {
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        data_left_ = data_left_ * 16 + static_cast<std::uint64_t>(digit);
      }
      state_ = data_left_ == 0 ? State::trailer : State::data_end;
      return std::nullopt;
    }
    case State::data_end:
      if (!line.empty()) return bad("a chunk does not end where it said");
      state_ = State::size;
      return std::nullopt;
    case State::trailer: {
      if (line.empty()) {
        state_ = State::end;
        return std::nullopt;
      }
      trailer_bytes_ += line.size() + 2;
      if (trailer_bytes_ > kMaxTrailerBytes) return bad("the trailer is too large");
      // Nothing reads trailers here; they must be well formed all the same.
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
          !all_of(line.substr(colon + 1), kValue)) {
        return bad("that is no trailer line");
      }
      return std::nullopt;
    }
    case State::end: break;
  }
  return bad("the body has ended");
}

}  // namespace meridian::net
