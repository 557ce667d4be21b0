// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/stream.h"

#include <algorithm>
#include <bit>

#include "tune/numeric/normal.h"

namespace meridian::tune {

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

Stream::Stream(std::initializer_list<std::uint64_t> key) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const std::uint64_t word : key) hash = mix(hash + 0x9e3779b97f4a7c15ULL + mix(word));
  for (std::uint64_t& word : state_) word = mix(hash += 0x9e3779b97f4a7c15ULL);
}

std::uint64_t Stream::bits() {
  auto& s = state_;
  const std::uint64_t out = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return out;
}

double Stream::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Stream::uniform(double low, double high) {
  return std::clamp(low + (high - low) * uniform(), low, high);
}

std::uint64_t Stream::below(std::uint64_t bound) {
  // Rejection keeps the distribution exact.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  while (true) {
    if (const std::uint64_t value = bits(); value < limit) return value % bound;
  }
}

double Stream::normal() {
  // By inversion: one number in, one out, so that streams stay in step. Never at 0 or 1.
  return normal_quantile((static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53);
}

}  // namespace meridian::tune
