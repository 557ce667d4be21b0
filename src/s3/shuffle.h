// Order and shares of a channel's items. The same seed gives the same order on every machine.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace meridian::s3 {

// Fisher–Yates by our own bounded draw: std::shuffle may differ between libraries.
template <class T>
void shuffle(std::vector<T>& items, std::int64_t seed, int epoch) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(epoch)};
  std::mt19937_64 engine(mixed);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[engine() % i]);
}

// Every count-th item from `index` on: disjoint, and together everything.
template <class T>
std::vector<T> shard(std::vector<T> items, std::size_t index, std::size_t count) {
  std::vector<T> mine;
  for (std::size_t i = index; i < items.size(); i += count) mine.push_back(std::move(items[i]));
  return mine;
}

}  // namespace meridian::s3
