// SPDX-License-Identifier: Apache-2.0
#include "net/http.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::net {

void Headers::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string_view name, std::string value) {
  remove(name);
  fields_.emplace_back(std::string(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_,
                [&](const auto& field) { return base::equals_ignoring_case(field.first, name); });
}

std::optional<std::string> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (base::equals_ignoring_case(key, name)) return value;
  }
  return std::nullopt;
}

std::string Headers::get(std::string_view name, std::string_view fallback) const {
  return find(name).value_or(std::string(fallback));
}

std::vector<std::string> Headers::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : fields_) {
    if (base::equals_ignoring_case(key, name)) values.push_back(value);
  }
  return values;
}

std::string BodyReader::read_all(std::size_t limit) {
  const auto refuse = [&] {
    return base::Error(base::Code::resource_exhausted,
                       "the body is larger than " + base::format_bytes(limit));
  };
  if (length().value_or(0) > limit) throw refuse();
  std::string bytes;
  // One byte more than announced, so that the end is usually seen by the read that fills it.
  std::size_t piece = std::clamp<std::uint64_t>(length().value_or(0) + 1, 4096, 1u << 20);
  for (std::size_t size = 0;;) {
    bytes.resize(size + piece);
    const std::size_t got = read(bytes.data() + size, piece);
    size += got;
    bytes.resize(size);
    if (size > limit) throw refuse();
    if (got == 0) return bytes;
    piece = std::min<std::size_t>(std::max(piece, size), 1u << 20);
  }
}

std::size_t StringBody::read(char* buffer, std::size_t size) {
  const std::size_t count = std::min(size, bytes_.size() - at_);
  std::memcpy(buffer, bytes_.data() + at_, count);
  at_ += count;
  return count;
}

namespace {
std::string decode(std::string_view text, bool plus_is_space) {
  std::string copy(text);
  if (plus_is_space) std::replace(copy.begin(), copy.end(), '+', ' ');
  return base::percent_decode(copy).value_or(copy);  // a broken escape stays as it was sent
}
}  // namespace

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query,
                                                             bool plus_is_space) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    pairs.emplace_back(decode(piece.substr(0, equals), plus_is_space),
                       decode(piece.substr(std::min(piece.size(), equals + 1)), plus_is_space));
  }
  return pairs;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100: return "Continue";
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 424: return "Failed Dependency";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return status < 400 ? "OK" : "Error";
  }
}

}  // namespace meridian::net
