// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/openapi/wire.h"

namespace meridian::kubeserver::openapi {
namespace {

constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_bytes(std::string_view& rest, std::uint64_t size) {
  if (size > rest.size()) return std::nullopt;
  const std::string_view bytes = rest.substr(0, static_cast<std::size_t>(size));
  rest.remove_prefix(bytes.size());
  return bytes;
}

}  // namespace

void Message::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

Message& Message::add(int field, std::string_view bytes) {
  varint(static_cast<std::uint64_t>(field) << 3 | kBytes);
  varint(bytes.size());
  bytes_ += bytes;
  return *this;
}

Message& Message::add_number(int field, std::uint64_t value) {
  varint(static_cast<std::uint64_t>(field) << 3 | kVarint);
  varint(value);
  return *this;
}

std::optional<WireField> take_field(std::string_view& rest) {
  std::string_view left = rest;
  const auto tag = take_varint(left);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 536'870'911) return std::nullopt;
  WireField field{.number = static_cast<int>(*tag >> 3)};
  switch (*tag & 7) {
    case kVarint: {
      const auto value = take_varint(left);
      if (!value) return std::nullopt;
      field.type = WireField::Type::number;
      field.value = *value;
      break;
    }
    case kBytes: {
      const auto size = take_varint(left);
      const auto bytes = size ? take_bytes(left, *size) : std::nullopt;
      if (!bytes) return std::nullopt;
      field.type = WireField::Type::bytes;
      field.bytes = *bytes;
      break;
    }
    case kFixed64:
    case kFixed32:
      if (!take_bytes(left, (*tag & 7) == kFixed64 ? 8 : 4)) return std::nullopt;
      break;
    default: return std::nullopt;
  }
  rest = left;
  return field;
}

}  // namespace meridian::kubeserver::openapi
