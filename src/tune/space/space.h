// What a study may vary: parameters with ranges, some of which exist only when another parameter
// has a certain value.
//
//   Space space({{.name = "lr", .range = {1e-4, 0.1}, .scaling = Scaling::logarithmic},
//                {.name = "layers", .range = {1, 4, Numbers::integer}},
//                {.name = "optimizer", .categories = {"sgd", "adam"}},
//                {.name = "momentum", .range = {0.9, 0.99}, .when = Condition{"optimizer",
//                {"sgd"}}}});
//   Point point = space.from_unit(u);
//   space.text(point, 0);   // "0.0031…"
//
// Promises:
//   1. Every point that from_unit makes is in the space; no bound is broken by rounding.
//   2. Ends are reachable: 0 gives min, 1 gives max.
//   3. A parameter that is not active has one value (`inactive`), so that equal configurations are
//      equal points.
//   4. text and parse are inverse: a value survives the way through a hyperparameter's text.
//
// Immutable; threads may share it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/space/scaling.h"

namespace meridian::tune {

// One value per parameter: a number, an index of a category, or `inactive`.
using Point = std::vector<double>;
inline constexpr double inactive = std::numeric_limits<double>::quiet_NaN();
bool is_inactive(double value);

// An order of points in which inactive values are equal to each other; for sets of points.
struct PointOrder {
  bool operator()(const Point& a, const Point& b) const;
};
bool same(const Point& a, const Point& b);

// Active while the parameter of that name, which stands before this one, is active and has one of
// these values (as text).
struct Condition {
  std::string parameter;
  std::vector<std::string> values;
};

struct Parameter {
  std::string name;
  Range range = {};                          // of numbers; unused when there are categories
  Scaling scaling = Scaling::automatic;      // of numbers
  std::vector<std::string> categories = {};  // not empty: categorical
  std::optional<Condition> when = {};

  bool is_categorical() const { return !categories.empty(); }
};

class Space {
 public:
  // Throws Error(invalid_argument) that names the parameter: no or doubled name, min above max,
  // ends that are not finite, integer ends that are no integers or beyond ±2^53, Logarithmic with
  // min <= 0, ReverseLogarithmic outside [0, 1) or for integers, doubled categories, a condition on
  // a parameter that does not stand before or on values that it cannot have.
  explicit Space(std::vector<Parameter> parameters);

  std::size_t size() const { return parameters_.size(); }
  const Parameter& parameter(std::size_t i) const { return parameters_[i]; }
  std::span<const Parameter> parameters() const { return parameters_; }
  Scaling scaling(std::size_t i) const { return scalings_[i]; }  // never automatic
  std::optional<std::size_t> find(std::string_view parameter_name) const;

  // `unit` has size() values in [0, 1]; others are clamped.
  Point from_unit(std::span<const double> unit) const;
  double from_unit(std::size_t i, double unit) const;
  // The place of a point in the unit cube; inactive parameters lie in the middle, categories in the
  // middle of their share.
  std::vector<double> to_unit(const Point& point) const;

  bool contains(const Point& point) const;
  // Makes parameters that are not active inactive, and those that are active but have no value the
  // middle of their range.
  void normalize(Point& point) const;
  bool is_active(std::size_t i, const Point& point) const;  // values before i are read

  // Whether every parameter has finitely many values.
  bool is_finite() const;
  // Distinct points of a finite space in lexicographic order (the first parameter slowest), or
  // nothing when there are more than `limit` of them or infinitely many.
  std::optional<std::vector<Point>> enumerate(std::size_t limit) const;
  // How many distinct points; nothing when infinite or more than 2^53.
  std::optional<std::uint64_t> count() const;

  // Numbers in the shortest form that reads back ("0.001", "12"); "" when inactive.
  std::string text(const Point& point, std::size_t i) const;
  // Nothing when the text is no value of this parameter, or outside of its range.
  std::optional<double> parse(std::size_t i, std::string_view text) const;

 private:
  struct Activation {
    std::size_t parent = 0;
    std::vector<double> values;
  };

  void check(std::size_t i) const;
  Activation resolve(std::size_t i) const;
  std::uint64_t values_of(std::size_t i) const;  // of a finite parameter
  double value_at(std::size_t i, std::uint64_t k) const;
  bool has_finitely_many(std::size_t i) const;

  std::vector<Parameter> parameters_;
  std::vector<Scaling> scalings_;
  std::vector<std::optional<Activation>> activations_;
};

}  // namespace meridian::tune
