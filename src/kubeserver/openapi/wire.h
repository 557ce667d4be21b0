// The protobuf wire format: what is written for OpenAPI v2, what is read from kubectl's bodies.
//
// Source: Protocol Buffers "Encoding".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meridian::kubeserver::openapi {

// A message that is being written.
class Message {
 public:
  Message& add(int field, std::string_view bytes);
  Message& add(int field, const Message& message) { return add(field, message.bytes_); }
  Message& add_number(int field, std::uint64_t value);
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  std::string bytes_;
};

// One field of a message that is being read.
struct WireField {
  int number = 0;
  enum class Type { number, bytes, other } type = Type::other;  // other: 32 and 64 bits, skipped
  std::uint64_t value = 0;
  std::string_view bytes;
};

// Takes the next field off the front. Nothing at the end, and for broken bytes; then `rest` is not
// empty.
std::optional<WireField> take_field(std::string_view& rest);

}  // namespace meridian::kubeserver::openapi
