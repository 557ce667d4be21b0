// The guard in front of every HTTP server: however the bytes arrive, the verdict is the same; what
// is accepted means one thing only, and still does when it is written out and read again.
//
// LINK: base net
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/http_parser.h"

using namespace meridian::net;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

struct Found {
  std::size_t size = 0;  // 0: not complete
  int status = 0;        // of a refusal
  bool operator==(const Found&) const = default;
};

Found find_head(std::string_view bytes, std::size_t step) {
  HeadFinder finder;
  for (std::size_t end = std::min(step, bytes.size());; end = std::min(end + step, bytes.size())) {
    const auto size = finder.find(bytes.substr(0, end));
    if (!size) return {0, size.error().status};
    if (*size > 0 || end == bytes.size()) return {*size, 0};
  }
}

struct Decoded {
  std::string data;
  std::size_t used = 0;  // up to the end of the body
  bool ended = false, refused = false;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view bytes, std::size_t step) {
  ChunkDecoder decoder;
  Decoded result;
  std::string inbox;
  std::size_t at = 0;
  while (!decoder.ended()) {
    if (decoder.data_left() > 0 && !inbox.empty()) {
      const auto count = std::min<std::uint64_t>(decoder.data_left(), inbox.size());
      result.data += inbox.substr(0, count);
      inbox.erase(0, count);
      decoder.took(count);
      continue;
    }
    const auto dropped = decoder.take_framing(inbox);
    if (!dropped) return {.refused = true};
    require(*dropped <= inbox.size());
    inbox.erase(0, *dropped);
    if (*dropped > 0) continue;
    if (at == bytes.size()) return result;
    inbox += bytes.substr(at, step);
    at += std::min(step, bytes.size() - at);
  }
  result.ended = true;
  result.used = at - inbox.size();
  return result;
}

std::string written(const RequestHead& head) {
  std::string text =
      head.method + " " + head.target + " HTTP/1." + std::to_string(head.minor_version) + "\r\n";
  for (const auto& [name, value] : head.headers.fields()) text += name + ": " + value + "\r\n";
  return text + "\r\n";
}

void check_head(const RequestHead& head) {
  require(!(head.chunked && head.content_length));
  require(head.target == "*" || head.path.starts_with('/'));
  require(head.headers.fields().size() <= kMaxHeadFields);
  require(head.headers.all("content-length").size() <= 1);
  require(head.headers.all("host").size() <= 1);
  for (const auto& [name, value] : head.headers.fields()) {
    require(!name.empty());
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
  }
  const auto again = parse_head(written(head));
  require(again.ok());
  require(again->method == head.method && again->path == head.path && again->query == head.query);
  require(again->headers.fields() == head.headers.fields());
  require(again->chunked == head.chunked && again->content_length == head.content_length);
  require(again->keep_alive == head.keep_alive);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Found found = find_head(bytes, std::max<std::size_t>(size, 1));
  require(find_head(bytes, 7) == found);
  std::string_view body = bytes;
  if (found.size > 0) {
    require(found.size <= size);
    if (const auto head = parse_head(bytes.substr(0, found.size))) check_head(*head);
    body.remove_prefix(found.size);
  }
  const Decoded whole = decode(body, std::max<std::size_t>(body.size(), 1));
  require(decode(body, 3) == whole);
  return 0;
}
