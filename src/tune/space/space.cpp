// SPDX-License-Identifier: Apache-2.0
#include "tune/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"

namespace meridian::tune {

namespace {

constexpr double largest_integer = 0x1p53;

base::Error wrong(const Parameter& parameter, const std::string& what) {
  return base::Error(base::Code::invalid_argument,
                     fmt::format("parameter '{}': {}", parameter.name, what));
}

void check_range(const Parameter& p) {
  const auto& [min, max, numbers] = p.range;
  if (!std::isfinite(min) || !std::isfinite(max)) {
    throw wrong(p, fmt::format("its range {}..{} is not finite", min, max));
  }
  if (min > max) throw wrong(p, fmt::format("its minimum {} is above its maximum {}", min, max));
  if (numbers == Numbers::integer) {
    if (min != std::floor(min) || max != std::floor(max)) {
      throw wrong(
          p, fmt::format("the ends of an integer range must be integers, not {}..{}", min, max));
    }
    if (std::abs(min) > largest_integer || std::abs(max) > largest_integer) {
      throw wrong(p, "the ends of an integer range must lie within ±2^53");
    }
  }
}

void check_scaling(const Parameter& p) {
  const auto& [min, max, numbers] = p.range;
  if (p.scaling == Scaling::logarithmic && min <= 0) {
    throw wrong(
        p, fmt::format("Logarithmic scaling needs a minimum above 0, not {}; use Linear", min));
  }
  if (p.scaling != Scaling::reverse_logarithmic) return;
  if (numbers == Numbers::integer) {
    throw wrong(p, "ReverseLogarithmic scaling is for continuous ranges only; use Linear");
  }
  if (min < 0 || max >= 1) {
    throw wrong(p, fmt::format("ReverseLogarithmic scaling needs 0 <= min and max < 1, not {}..{}",
                               min, max));
  }
}

}  // namespace

bool is_inactive(double value) { return std::isnan(value); }

bool PointOrder::operator()(const Point& a, const Point& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](double x, double y) {
                                        if (is_inactive(x) || is_inactive(y))
                                          return is_inactive(x) && !is_inactive(y);
                                        return x < y;
                                      });
}

bool same(const Point& a, const Point& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return x == y || (is_inactive(x) && is_inactive(y));
  });
}

Space::Space(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  for (std::size_t i = 0; i < size(); ++i) {
    check(i);
    const Parameter& p = parameters_[i];
    scalings_.push_back(p.is_categorical() ? Scaling::linear : resolved(p.scaling, p.range));
    activations_.push_back(p.when ? std::optional(resolve(i)) : std::nullopt);
  }
}

void Space::check(std::size_t i) const {
  const Parameter& p = parameters_[i];
  if (p.name.empty()) {
    throw base::Error(base::Code::invalid_argument, fmt::format("parameter {} has no name", i + 1));
  }
  if (find(p.name) != i) throw wrong(p, "there are two of this name");
  if (!p.is_categorical()) {
    check_range(p);
    check_scaling(p);
    return;
  }
  const std::set<std::string> distinct(p.categories.begin(), p.categories.end());
  if (distinct.size() != p.categories.size()) throw wrong(p, "a category is listed twice");
}

Space::Activation Space::resolve(std::size_t i) const {
  const Parameter& p = parameters_[i];
  const auto parent = find(p.when->parameter);
  if (!parent || *parent >= i) {
    throw wrong(p, fmt::format("its condition names '{}', which is no parameter before it",
                               p.when->parameter));
  }
  if (p.when->values.empty()) throw wrong(p, "its condition has no values");
  Activation out{*parent, {}};
  for (const std::string& text : p.when->values) {
    const auto value = parse(*parent, text);
    if (!value)
      throw wrong(p, fmt::format("its condition needs {} = '{}', which cannot be",
                                 p.when->parameter, text));
    out.values.push_back(*value);
  }
  return out;
}

std::optional<std::size_t> Space::find(std::string_view parameter_name) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (parameters_[i].name == parameter_name) return i;
  }
  return std::nullopt;
}

double Space::from_unit(std::size_t i, double unit) const {
  const Parameter& p = parameters_[i];
  if (!p.is_categorical()) return tune::from_unit(unit, p.range, scalings_[i]);
  const double count = static_cast<double>(p.categories.size());
  return std::clamp(std::floor(unit * count), 0.0, count - 1);
}

Point Space::from_unit(std::span<const double> unit) const {
  Point point(size(), inactive);
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_active(i, point)) point[i] = from_unit(i, unit[i]);
  }
  return point;
}

std::vector<double> Space::to_unit(const Point& point) const {
  std::vector<double> unit(size(), 0.5);
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_inactive(point[i])) continue;
    const Parameter& p = parameters_[i];
    unit[i] = p.is_categorical() ? (point[i] + 0.5) / static_cast<double>(p.categories.size())
                                 : tune::to_unit(point[i], p.range, scalings_[i]);
  }
  return unit;
}

bool Space::is_active(std::size_t i, const Point& point) const {
  if (!activations_[i]) return true;
  const double parent = point[activations_[i]->parent];
  return std::ranges::find(activations_[i]->values, parent) != activations_[i]->values.end();
}

bool Space::contains(const Point& point) const {
  if (point.size() != size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    const double value = point[i];
    if (is_active(i, point) == is_inactive(value)) return false;
    if (is_inactive(value)) continue;
    const Parameter& p = parameters_[i];
    const bool whole = p.is_categorical() || p.range.numbers == Numbers::integer;
    const double low = p.is_categorical() ? 0 : p.range.min;
    const double high =
        p.is_categorical() ? static_cast<double>(p.categories.size()) - 1 : p.range.max;
    if (!(value >= low && value <= high) || (whole && value != std::floor(value))) return false;
  }
  return true;
}

void Space::normalize(Point& point) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!is_active(i, point)) {
      point[i] = inactive;
    } else if (is_inactive(point[i])) {
      point[i] = from_unit(i, 0.5);
    }
  }
}

std::string Space::text(const Point& point, std::size_t i) const {
  if (is_inactive(point[i])) return "";
  const Parameter& p = parameters_[i];
  if (p.is_categorical()) return p.categories[static_cast<std::size_t>(point[i])];
  if (p.range.numbers == Numbers::integer)
    return fmt::format("{}", static_cast<std::int64_t>(point[i]));
  return fmt::format("{}", point[i]);
}

std::optional<double> Space::parse(std::size_t i, std::string_view text) const {
  const Parameter& p = parameters_[i];
  if (p.is_categorical()) {
    const auto at = std::ranges::find(p.categories, text);
    if (at == p.categories.end()) return std::nullopt;
    return static_cast<double>(at - p.categories.begin());
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= p.range.min && value <= p.range.max)) return std::nullopt;
  if (p.range.numbers == Numbers::integer && value != std::floor(value)) return std::nullopt;
  return value;
}

}  // namespace meridian::tune
