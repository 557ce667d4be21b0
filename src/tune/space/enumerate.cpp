// The finite side of a space: how many points, and which.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "tune/space/space.h"

namespace meridian::tune {

bool Space::has_finitely_many(std::size_t i) const {
  const Parameter& p = parameters_[i];
  return p.is_categorical() || p.range.numbers == Numbers::integer || p.range.min == p.range.max;
}

bool Space::is_finite() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!has_finitely_many(i)) return false;
  }
  return true;
}

std::uint64_t Space::values_of(std::size_t i) const {
  const Parameter& p = parameters_[i];
  if (p.is_categorical()) return p.categories.size();
  return static_cast<std::uint64_t>(p.range.max - p.range.min) + 1;
}

double Space::value_at(std::size_t i, std::uint64_t k) const {
  return (parameters_[i].is_categorical() ? 0 : parameters_[i].range.min) + static_cast<double>(k);
}

std::optional<std::vector<Point>> Space::enumerate(std::size_t limit) const {
  if (!is_finite()) return std::nullopt;
  std::vector<Point> points{Point(size(), inactive)};
  for (std::size_t i = 0; i < size(); ++i) {
    std::vector<Point> longer;
    for (const Point& point : points) {
      const bool active = is_active(i, point);
      const std::uint64_t values = active ? values_of(i) : 1;
      if (values > limit || longer.size() + values > limit) return std::nullopt;
      for (std::uint64_t k = 0; k < values; ++k) {
        longer.push_back(point);
        if (active) longer.back()[i] = value_at(i, k);
      }
    }
    points.swap(longer);
  }
  return points;
}

std::optional<std::uint64_t> Space::count() const {
  if (!is_finite()) return std::nullopt;
  // From the last parameter to the first: below[i] would need the values of all parents, so points
  // are grouped by the values that later conditions read.
  std::vector<bool> is_parent(size());
  for (const auto& activation : activations_) {
    if (activation) is_parent[activation->parent] = true;
  }
  std::map<Point, double, PointOrder> groups{{Point(size(), inactive), 1}};
  for (std::size_t i = 0; i < size(); ++i) {
    std::map<Point, double, PointOrder> next;
    for (const auto& [point, ways] : groups) {
      if (!is_active(i, point)) {
        next[point] += ways;
      } else if (!is_parent[i]) {
        next[point] += ways * static_cast<double>(values_of(i));
      } else {
        if (values_of(i) > 10'000) return std::nullopt;
        for (std::uint64_t k = 0; k < values_of(i); ++k) {
          Point with = point;
          with[i] = value_at(i, k);
          next[with] += ways;
        }
      }
    }
    if (next.size() > 100'000) return std::nullopt;
    groups.swap(next);
  }
  double total = 0;
  for (const auto& [point, ways] : groups) total += ways;
  if (total > 0x1p53) return std::nullopt;
  return static_cast<std::uint64_t>(total);
}

}  // namespace meridian::tune
