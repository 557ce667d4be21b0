// HTTP/1.1 messages as the servers and clients of Meridian see them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meridian::net {

// Field lines in order of arrival; names compare without case (RFC 9110 §5.1).
class Headers {
 public:
  void add(std::string name, std::string value);
  void set(std::string_view name, std::string value);  // replaces all of that name
  void remove(std::string_view name);
  std::optional<std::string> find(std::string_view name) const;  // the first
  std::string get(std::string_view name, std::string_view fallback = "") const;
  std::vector<std::string> all(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// A body that is read once, front to back. Blocking; throws Error (unavailable when the peer leaves
// early, deadline_exceeded when it is too slow, invalid_argument when the framing is broken).
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // Fills at most `size` bytes; 0 means the end.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
  // Length announced by Content-Length; nothing when chunked.
  virtual std::optional<std::uint64_t> length() const = 0;
  // The rest as a string; Error(resource_exhausted) past `limit` bytes.
  std::string read_all(std::size_t limit);
};

// A body over bytes in memory.
class StringBody final : public BodyReader {
 public:
  explicit StringBody(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(char* buffer, std::size_t size) override;
  std::optional<std::uint64_t> length() const override { return bytes_.size(); }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct Request {
  std::string method;
  std::string target;  // as on the wire: raw path and query
  std::string path;    // raw path, percent-encoded as sent (signatures need it so)
  std::string query;   // raw query without '?'
  Headers headers;
  BodyReader* body =
      nullptr;          // never null in a handler; the first read sends 100 Continue if asked
  std::string peer;     // "127.0.0.1:4711" or "unix"
  bool secure = false;  // came over TLS
};

// Decoded "a=b&c" pairs in order; '+' stays '+' unless `plus_is_space`.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query,
                                                             bool plus_is_space = false);

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
};

std::string_view reason_phrase(int status);

}  // namespace meridian::net
