// Random numbers that depend on nothing but a key: the same key gives the same numbers, on every
// machine, with every standard library, after every restart.
//
//   Stream stream({seed, trial, purpose});
//   double u = stream.uniform();
//
// Generator: xoshiro256++ (Blackman, Vigna 2019) seeded by SplitMix64 over the words of the key.
// Not for secrets. A value: copy it to repeat it. One thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace meridian::tune {

std::uint64_t mix(std::uint64_t value);  // SplitMix64's finaliser: a bijection that scatters bits

class Stream {
 public:
  explicit Stream(std::initializer_list<std::uint64_t> key);

  std::uint64_t bits();
  double uniform();                          // in [0, 1), 53 bits
  double uniform(double low, double high);   // in [low, high]
  std::uint64_t below(std::uint64_t bound);  // exact in [0, bound); bound > 0
  double normal();                           // mean 0, variance 1

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace meridian::tune
