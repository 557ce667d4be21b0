// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace meridian::base {

std::uint64_t Random::below(std::uint64_t bound) {
  // Rejection keeps the distribution exact.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  while (true) {
    std::uint64_t value = 0;
    const std::string raw = bytes(sizeof value);
    std::memcpy(&value, raw.data(), sizeof value);
    if (value < limit) return value % bound;
  }
}

std::string Random::hex(std::size_t digits) {
  return base::hex(bytes((digits + 1) / 2)).substr(0, digits);
}

std::string Random::uuid() {
  std::string raw = bytes(16);
  raw[6] = static_cast<char>((raw[6] & 0x0f) | 0x40);
  raw[8] = static_cast<char>((raw[8] & 0x3f) | 0x80);
  std::string text = base::hex(raw);
  for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, "-");
  return text;
}

std::string Random::alphanumeric_upper(std::size_t length) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string out = bytes(length);
  for (char& c : out) c = alphabet[static_cast<unsigned char>(c) & 31];
  return out;
}

std::string SystemRandom::bytes(std::size_t count) {
  std::string out(count, '\0');
  std::size_t filled = 0;
  while (filled < count) {
    const ssize_t n = getrandom(out.data() + filled, count - filled, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw errno_error(errno, "cannot read random bytes");
    filled += static_cast<std::size_t>(n);
  }
  return out;
}

std::string SeededRandom::bytes(std::size_t count) {
  std::lock_guard lock(mutex_);
  std::string out;
  while (out.size() < count) {
    const std::uint64_t value = engine_();
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  out.resize(count);
  return out;
}

}  // namespace meridian::base
