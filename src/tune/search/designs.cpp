// SPDX-License-Identifier: Apache-2.0
#include "tune/search/designs.h"

#include <fmt/format.h>

#include "base/error.h"
#include "tune/numeric/sobol.h"
#include "tune/numeric/stream.h"
#include "tune/search/unseen.h"

namespace meridian::tune {

namespace {

class RandomSearch final : public Strategy {
 public:
  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    Stream stream({problem.seed, static_cast<std::uint64_t>(Purpose::random), history.size()});
    std::vector<double> unit(problem.space.size());
    for (double& u : unit) u = stream.uniform();
    return Proposal{prefer_unseen(problem, history, problem.space.from_unit(unit))};
  }
};

class SobolSearch final : public Strategy {
 public:
  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    const Sobol sobol(problem.space.size(),
                      mix(problem.seed ^ static_cast<std::uint64_t>(Purpose::sobol)));
    std::vector<double> unit(problem.space.size());
    sobol.point(history.size(), unit);
    return Proposal{prefer_unseen(problem, history, problem.space.from_unit(unit))};
  }
};

class GridSearch final : public Strategy {
 public:
  explicit GridSearch(const GridSettings& settings) : settings_(settings) {}

  std::optional<Proposal> propose(const Problem& problem, const History& history) override {
    if (points_.empty()) points_ = list(problem.space);
    // The first that nobody tried: as many combinations as trials were passed at most, those of
    // earlier studies included.
    for (const Point& point : points_) {
      if (!history.has_seen(point)) return Proposal{point};
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t limit = 1u << 20;

  // The grid is the list of points of a space in which continuous parameters became categories.
  std::vector<Point> list(const Space& space) const {
    std::vector<Parameter> parameters(space.parameters().begin(), space.parameters().end());
    std::vector<bool> leveled(space.size());
    for (std::size_t i = 0; i < space.size(); ++i) {
      Parameter& p = parameters[i];
      leveled[i] = !p.is_categorical() && p.range.numbers == Numbers::continuous;
      if (!leveled[i]) continue;
      const int levels = p.range.min == p.range.max ? 1 : settings_.levels;
      p.range = {0, static_cast<double>(levels - 1), Numbers::integer};
      p.scaling = Scaling::linear;
    }
    auto points = Space(std::move(parameters)).enumerate(limit);
    if (!points) {
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("the grid has more than {} combinations; use fewer values, "
                                    "narrower integer ranges or another strategy",
                                    limit));
    }
    for (Point& point : *points) {
      for (std::size_t i = 0; i < space.size(); ++i) {
        if (!leveled[i] || is_inactive(point[i])) continue;
        const int last = settings_.levels - 1;
        point[i] = space.from_unit(i, last > 0 ? point[i] / last : 0.5);
      }
    }
    return std::move(*points);
  }

  GridSettings settings_;
  std::vector<Point> points_;
};

}  // namespace

std::unique_ptr<Strategy> make_random() { return std::make_unique<RandomSearch>(); }
std::unique_ptr<Strategy> make_sobol() { return std::make_unique<SobolSearch>(); }
std::unique_ptr<Strategy> make_grid(const GridSettings& settings) {
  return std::make_unique<GridSearch>(settings);
}

}  // namespace meridian::tune
