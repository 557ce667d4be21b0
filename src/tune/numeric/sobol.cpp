// SPDX-License-Identifier: Apache-2.0
#include "tune/numeric/sobol.h"

#include <array>
#include <bit>

#include "tune/numeric/stream.h"

namespace meridian::tune {

namespace {

// A primitive polynomial (its bits, the highest power first) and the first values m₁, m₂, … of its
// recurrence: odd, mₖ < 2ᵏ.
struct Direction {
  unsigned polynomial;
  std::array<std::uint32_t, 7> first;
};

constexpr Direction directions[] = {
    {3, {1}},
    {7, {1, 1}},
    {11, {1, 1, 3}},
    {13, {1, 1, 5}},
    {19, {1, 3, 1, 15}},
    {25, {1, 3, 7, 13}},
    {37, {1, 1, 1, 13, 19}},
    {41, {1, 3, 5, 3, 19}},
    {47, {1, 1, 1, 13, 11}},
    {55, {1, 1, 1, 1, 3}},
    {59, {1, 3, 7, 13, 13}},
    {61, {1, 1, 5, 7, 23}},
    {67, {1, 1, 7, 11, 25, 45}},
    {91, {1, 1, 1, 9, 15, 43}},
    {97, {1, 3, 3, 7, 29, 15}},
    {103, {1, 3, 1, 1, 11, 41}},
    {109, {1, 3, 7, 3, 19, 39}},
    {115, {1, 1, 3, 3, 9, 9}},
    {131, {1, 3, 1, 11, 19, 9, 35}},
    {137, {1, 1, 1, 13, 29, 57, 7}},
    {143, {1, 3, 5, 13, 23, 53, 81}},
    {145, {1, 1, 7, 9, 21, 15, 79}},
    {157, {1, 3, 7, 5, 1, 63, 105}},
    {167, {1, 3, 7, 7, 3, 27, 1}},
    {171, {1, 3, 1, 15, 15, 1, 49}},
    {185, {1, 3, 1, 3, 7, 19, 65}},
    {191, {1, 1, 7, 1, 11, 45, 53}},
    {193, {1, 1, 1, 9, 15, 43, 9}},
    {203, {1, 3, 7, 15, 25, 21, 5}},
    {211, {1, 3, 3, 11, 17, 49, 69}},
    {213, {1, 3, 1, 3, 7, 57, 51}},
    {229, {1, 1, 3, 13, 19, 29, 49}},
    {239, {1, 3, 5, 11, 27, 39, 13}},
    {241, {1, 3, 5, 1, 13, 1, 103}},
    {247, {1, 1, 1, 11, 17, 39, 63}},
};
static_assert(std::size(directions) + 1 == Sobol::table_dimensions);

using Columns = std::array<std::uint32_t, 32>;

constexpr Columns columns_of(const Direction& direction) {
  const int degree = std::bit_width(direction.polynomial) - 1;
  std::array<std::uint64_t, 32> m{};
  for (int k = 0; k < 32; ++k) {
    if (k < degree) {
      m[k] = direction.first[k];
      continue;
    }
    m[k] = m[k - degree] ^ (m[k - degree] << degree);
    for (int i = 1; i < degree; ++i) {
      if (direction.polynomial >> (degree - i) & 1) m[k] ^= m[k - i] << i;
    }
  }
  Columns columns{};
  for (int k = 0; k < 32; ++k) columns[k] = static_cast<std::uint32_t>(m[k] << (31 - k));
  return columns;
}

constexpr auto make_table() {
  std::array<Columns, Sobol::table_dimensions> table{};
  for (int k = 0; k < 32; ++k) table[0][k] = 0x80000000u >> k;  // van der Corput
  for (std::size_t d = 1; d < table.size(); ++d) table[d] = columns_of(directions[d - 1]);
  return table;
}

constexpr auto table = make_table();

// Each bit is flipped by a hash of the bits above it: a nested uniform scramble.
std::uint32_t scramble(std::uint32_t x, std::uint64_t key) {
  std::uint32_t out = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint64_t above = bit == 31 ? 0 : x >> (bit + 1);
    const std::uint64_t flip = mix(key ^ mix(above << 6 | static_cast<unsigned>(bit))) & 1;
    out |= ((x >> bit & 1) ^ static_cast<std::uint32_t>(flip)) << bit;
  }
  return out;
}

}  // namespace

double Sobol::coordinate(std::uint64_t index, std::size_t dimension) const {
  const std::uint64_t key = mix(seed_ + 0x9e3779b97f4a7c15ULL * (dimension + 1));
  // Past 32 bits, and past the table, the value is as good as drawn by chance.
  const std::uint64_t chance = mix(key ^ mix(index));
  if (dimension >= table_dimensions) return static_cast<double>(chance >> 11) * 0x1p-53;
  std::uint32_t x = 0;
  for (auto i = static_cast<std::uint32_t>(index); i != 0; i &= i - 1) {
    x ^= table[dimension][std::countr_zero(i)];
  }
  const std::uint64_t value = std::uint64_t{scramble(x, key)} << 21 | chance >> 43;
  return static_cast<double>(value) * 0x1p-53;
}

void Sobol::point(std::uint64_t index, std::span<double> out) const {
  for (std::size_t d = 0; d < dimensions_; ++d) out[d] = coordinate(index, d);
}

}  // namespace meridian::tune
