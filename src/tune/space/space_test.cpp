// SPDX-License-Identifier: Apache-2.0
#include "tune/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "tune/numeric/stream.h"

namespace meridian::tune {
namespace {

using testing::HasSubstr;

Parameter number(std::string name, double min, double max, Scaling scaling = Scaling::linear,
                 Numbers numbers = Numbers::continuous) {
  return {.name = std::move(name), .range = {min, max, numbers}, .scaling = scaling};
}

Parameter integer(std::string name, double min, double max, Scaling scaling = Scaling::linear) {
  return number(std::move(name), min, max, scaling, Numbers::integer);
}

Parameter choice(std::string name, std::vector<std::string> categories) {
  return {.name = std::move(name), .categories = std::move(categories)};
}

std::string refusal(std::vector<Parameter> parameters) {
  try {
    Space space(std::move(parameters));
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::invalid_argument);
    return error.message();
  }
  return "";
}

// Ranges that rounding has broken elsewhere, and others of their kind.
std::vector<Parameter> awkward_ranges() {
  return {number("a", 1e-4, 0.2, Scaling::logarithmic),
          number("b", 0.1, 0.7),
          number("c", -1e308, 1e308),
          number("d", 1e-300, 1e300, Scaling::logarithmic),
          number("e", 0, 0.999, Scaling::reverse_logarithmic),
          number("f", 0.9, 1 - 1e-12, Scaling::reverse_logarithmic),
          number("g", 3, 3),
          number("h", 5e-324, 1e-300, Scaling::logarithmic),
          integer("i", 1, 10, Scaling::logarithmic),
          integer("j", 5, 5),
          integer("k", -3, 3),
          integer("l", -9007199254740992, 9007199254740992),
          integer("m", 1, 1'000'000, Scaling::logarithmic),
          choice("n", {"x"}),
          choice("o", {"x", "y", "z"}),
          number("p", 1, std::nextafter(1.0, 2.0)),
          integer("q", 5, 5, Scaling::logarithmic)};
}

TEST(Space, NoSuggestionOfAHundredThousandBreaksABound) {
  const Space space(awkward_ranges());
  Stream stream({1});
  std::vector<double> unit(space.size());
  for (int i = 0; i < 100'000; ++i) {
    for (double& u : unit) u = stream.uniform();
    ASSERT_TRUE(space.contains(space.from_unit(unit))) << i;
  }
}

TEST(Space, TheEndsOfTheUnitIntervalAreTheEndsOfTheRange) {
  const Space space(awkward_ranges());
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Parameter& p = space.parameter(i);
    if (p.is_categorical()) continue;
    EXPECT_EQ(space.from_unit(i, 0), p.range.min) << p.name;
    EXPECT_EQ(space.from_unit(i, 1), p.range.max) << p.name;
    EXPECT_EQ(space.from_unit(i, -3), p.range.min) << p.name;
    EXPECT_EQ(space.from_unit(i, 7), p.range.max) << p.name;
    EXPECT_EQ(space.from_unit(i, std::nan("")), p.range.min) << p.name;
  }
}

TEST(Space, FromUnitNeverFallsBack) {
  const Space space(awkward_ranges());
  for (std::size_t i = 0; i < space.size(); ++i) {
    double last = space.from_unit(i, 0);
    for (int k = 1; k <= 1000; ++k) {
      const double value = space.from_unit(i, k / 1000.0);
      ASSERT_GE(value, last - 4e-16 * std::abs(last)) << space.parameter(i).name;
      last = value;
    }
  }
}

TEST(Space, ToUnitLeadsBackToTheSameValue) {
  const Space space(awkward_ranges());
  Stream stream({2});
  std::vector<double> unit(space.size());
  for (int i = 0; i < 2000; ++i) {
    for (double& u : unit) u = stream.uniform();
    const Point point = space.from_unit(unit);
    const Point again = space.from_unit(space.to_unit(point));
    for (std::size_t k = 0; k < space.size(); ++k) {
      const Parameter& p = space.parameter(k);
      if (p.is_categorical() || (p.range.numbers == Numbers::integer && p.range.max < 1e15)) {
        ASSERT_EQ(again[k], point[k]) << p.name;
      } else {
        const double size =
            std::max(std::abs(point[k]), p.scaling == Scaling::linear ? p.range.max : 0.0);
        ASSERT_NEAR(again[k] / size, point[k] / size, 1e-12) << p.name;
      }
    }
  }
}

TEST(Space, LogarithmicScalingFillsDecadesEvenly) {
  const Space space({number("x", 1e-6, 1, Scaling::logarithmic)});
  Stream stream({3});
  std::map<int, int> decades;
  for (int i = 0; i < 60'000; ++i)
    ++decades[static_cast<int>(std::floor(std::log10(space.from_unit(0, stream.uniform()))))];
  ASSERT_EQ(decades.size(), 6u);
  for (const auto& [decade, n] : decades) EXPECT_NEAR(n, 10'000, 500) << decade;
}

TEST(Space, ReverseLogarithmicScalingFillsDecadesBelowOneEvenly) {
  const Space space({number("x", 0, 0.999, Scaling::reverse_logarithmic)});
  Stream stream({4});
  int nines[3] = {};
  for (int i = 0; i < 30'000; ++i)
    ++nines[static_cast<int>(-std::log10(1 - space.from_unit(0, stream.uniform())))];
  for (const int n : nines) EXPECT_NEAR(n, 10'000, 500);
}

TEST(Space, EveryIntegerOfALinearRangeIsAsLikely) {
  const Space space({integer("x", -2, 2)});
  Stream stream({5});
  std::map<double, int> seen;
  for (int i = 0; i < 50'000; ++i) ++seen[space.from_unit(0, stream.uniform())];
  ASSERT_EQ(seen.size(), 5u);
  for (const auto& [value, n] : seen) EXPECT_NEAR(n, 10'000, 500) << value;
}

TEST(Space, AutomaticScalingFollowsItsRule) {
  EXPECT_EQ(resolved(Scaling::automatic, {1e-4, 0.1}), Scaling::logarithmic);
  EXPECT_EQ(resolved(Scaling::automatic, {1, 1000, Numbers::integer}), Scaling::logarithmic);
  EXPECT_EQ(resolved(Scaling::automatic, {0.9, 0.999}), Scaling::reverse_logarithmic);
  EXPECT_EQ(resolved(Scaling::automatic, {0.9, 0.99}), Scaling::linear);
  EXPECT_EQ(resolved(Scaling::automatic, {0, 1}), Scaling::linear);
  EXPECT_EQ(resolved(Scaling::automatic, {-1, 1e9}), Scaling::linear);
  EXPECT_EQ(resolved(Scaling::linear, {1e-4, 0.1}), Scaling::linear);
}

TEST(Space, RefusesRangesThatCannotBeAndNamesTheParameter) {
  EXPECT_THAT(refusal({number("lr", 0, 1, Scaling::logarithmic)}), HasSubstr("'lr': Logarithmic"));
  EXPECT_THAT(refusal({number("lr", -1, 1, Scaling::logarithmic)}), HasSubstr("'lr': Logarithmic"));
  EXPECT_THAT(refusal({number("m", 0.9, 1, Scaling::reverse_logarithmic)}), HasSubstr("max < 1"));
  EXPECT_THAT(refusal({number("m", -0.1, 0.5, Scaling::reverse_logarithmic)}),
              HasSubstr("0 <= min"));
  EXPECT_THAT(refusal({integer("n", 0, 0, Scaling::reverse_logarithmic)}), HasSubstr("continuous"));
  EXPECT_THAT(refusal({number("x", 2, 1)}), HasSubstr("minimum 2 is above its maximum 1"));
  EXPECT_THAT(refusal({number("x", 0, INFINITY)}), HasSubstr("not finite"));
  EXPECT_THAT(refusal({number("x", NAN, 1)}), HasSubstr("not finite"));
  EXPECT_THAT(refusal({integer("x", 0.5, 2)}), HasSubstr("must be integers"));
  EXPECT_THAT(refusal({integer("x", 0, 1e300)}), HasSubstr("2^53"));
  EXPECT_THAT(refusal({choice("c", {"a", "b", "a"})}), HasSubstr("twice"));
  EXPECT_THAT(refusal({number("x", 0, 1), choice("x", {"a"})}), HasSubstr("two of this name"));
  EXPECT_THAT(refusal({number("", 0, 1)}), HasSubstr("no name"));
}

Space conditional() {
  Parameter momentum = number("momentum", 0.9, 0.99);
  momentum.when = Condition{"optimizer", {"sgd"}};
  Parameter nesterov = choice("nesterov", {"no", "yes"});
  nesterov.when = Condition{"optimizer", {"sgd"}};
  Parameter damping = integer("damping", 1, 5);
  damping.when = Condition{"nesterov", {"no"}};
  return Space({choice("optimizer", {"sgd", "adam", "lion"}), momentum, nesterov, damping});
}

TEST(Space, AParameterWithoutItsConditionIsInactive) {
  const Space space = conditional();
  const std::vector<double> sgd{0, 0.5, 0, 0.5}, adam{0.5, 0.5, 0, 0.5};
  const Point with = space.from_unit(sgd), without = space.from_unit(adam);
  EXPECT_NEAR(with[1], 0.945, 1e-12);
  EXPECT_EQ(with[3], 3);
  EXPECT_TRUE(is_inactive(without[1]) && is_inactive(without[2]) && is_inactive(without[3]));
  EXPECT_TRUE(space.contains(with) && space.contains(without));
  EXPECT_EQ(space.text(without, 1), "");
  const std::vector<double> other{0.5, 0.9, 0.9, 0.9};
  EXPECT_TRUE(same(without, space.from_unit(other)));
}

TEST(Space, ConditionsAreChecked) {
  Parameter p = number("x", 0, 1);
  p.when = Condition{"y", {"1"}};
  EXPECT_THAT(refusal({p, integer("y", 0, 1)}), HasSubstr("no parameter before it"));
  EXPECT_THAT(refusal({integer("y", 2, 3), p}), HasSubstr("cannot be"));
  p.when->values.clear();
  EXPECT_THAT(refusal({integer("y", 0, 1), p}), HasSubstr("no values"));
}

TEST(Space, NormalizeMendsAPointWhoseParentChanged) {
  const Space space = conditional();
  Point point{0, 0.95, 0, 4};
  point[0] = 1;
  space.normalize(point);
  EXPECT_TRUE(same(point, {1, inactive, inactive, inactive}));
  point[0] = 0;
  space.normalize(point);
  EXPECT_TRUE(space.contains(point));
}

TEST(Space, EnumeratesEachDistinctPointOnce) {
  Parameter depth = integer("depth", 1, 3);
  depth.when = Condition{"kind", {"tree"}};
  const Space space(
      {choice("kind", {"tree", "line"}), depth, integer("n", 0, 1), number("fixed", 2, 2)});
  const auto points = space.enumerate(100);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 8u);  // (3 + 1) * 2
  EXPECT_EQ(space.count(), 8u);
  const std::set<Point, PointOrder> distinct(points->begin(), points->end());
  EXPECT_EQ(distinct.size(), 8u);
  for (const Point& point : *points) EXPECT_TRUE(space.contains(point));
  EXPECT_FALSE(space.enumerate(7));
}

TEST(Space, CountsWithoutEnumerating) {
  EXPECT_EQ(Space({integer("a", 1, 1'000'000), integer("b", 1, 1'000'000)}).count(),
            1'000'000'000'000u);
  EXPECT_FALSE(Space({integer("a", 1, 1e9), integer("b", 1, 1e9)}).count());  // past 2^53
  EXPECT_FALSE(conditional().count());
  EXPECT_EQ(Space(std::vector<Parameter>{}).count(), 1u);
}

TEST(Space, TextReadsBackAsTheSameValue) {
  const Space space(awkward_ranges());
  Stream stream({6});
  std::vector<double> unit(space.size());
  for (int i = 0; i < 2000; ++i) {
    for (double& u : unit) u = stream.uniform();
    const Point point = space.from_unit(unit);
    for (std::size_t k = 0; k < space.size(); ++k)
      EXPECT_EQ(space.parse(k, space.text(point, k)), point[k]);
  }
  EXPECT_EQ(Space({number("x", 0, 1)}).text({0.001}, 0), "0.001");
  EXPECT_EQ(Space({integer("x", 0, 1e15)}).text({1e15}, 0), "1000000000000000");
}

TEST(Space, ParseRefusesWhatIsNoValue) {
  const Space space({number("x", 0, 1), integer("n", 1, 5), choice("c", {"a", "b"})});
  for (const char* text : {"", "nan", "inf", "1.5", "-0.1", "0.5x", " 0.5"})
    EXPECT_FALSE(space.parse(0, text)) << text;
  for (const char* text : {"0", "6", "2.5", "two"}) EXPECT_FALSE(space.parse(1, text)) << text;
  EXPECT_FALSE(space.parse(2, "c"));
  EXPECT_EQ(space.parse(2, "b"), 1);
}

}  // namespace
}  // namespace meridian::tune
