// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fmt/format.h>

namespace meridian::store {

std::string index_number(std::int64_t value) {
  // The sign bit flipped, so that negative numbers come first.
  return fmt::format("{:016x}", static_cast<std::uint64_t>(value) ^ (1ull << 63));
}

Write put(std::string key, std::string body, IndexFields index, std::optional<Revision> expect) {
  return {Write::Kind::put, std::move(key), std::move(body), std::move(index), expect};
}

Write remove(std::string key, std::optional<Revision> expect) {
  return {.kind = Write::Kind::remove, .key = std::move(key), .expect = expect};
}

Write check(std::string key, Revision expect) {
  return {.kind = Write::Kind::check, .key = std::move(key), .expect = expect};
}

}  // namespace meridian::store
