// SPDX-License-Identifier: Apache-2.0
#include "tune/bayes/climb.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/numeric/minimize.h"
#include "tune/numeric/sobol.h"
#include "tune/numeric/stream.h"
#include "tune/search/observations.h"

namespace meridian::tune {

namespace {

using Coordinates = std::vector<double>;

class Climber {
 public:
  Climber(const Space& space, const Acquisition& acquisition, const Box& box,
          const std::function<bool(const Point&)>& is_new, const ClimbSettings& settings)
      : space_(space),
        acquisition_(acquisition),
        box_(box),
        is_new_(is_new),
        settings_(settings),
        stream_({settings.key, 1}) {}

  std::optional<Summit> run(const Rows& bases) {
    const Rows candidates = make_candidates(bases);
    if (candidates.size() == 0) return std::nullopt;
    const std::vector<double> values = acquisition_(candidates);
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return values[a] > values[b]; });

    std::optional<Summit> best;
    const auto offer = [&](const Coordinates& x, double value) {
      if (best && value <= best->value) return;
      Point point = point_at(space_, x);
      if (is_new_(point)) best = Summit{std::move(point), value};
    };
    for (const std::size_t i : spread_out(candidates, order)) {
      const auto row = candidates.row(i);
      Coordinates x(row.begin(), row.end());
      offer(x, values[i]);
      const double value = climb(x);
      offer(x, value);
    }
    // All summits may be known already (few integers): the best candidate that is not.
    for (std::size_t i = 0; i < order.size() && !best; ++i) {
      const auto row = candidates.row(order[i]);
      offer(Coordinates(row.begin(), row.end()), values[order[i]]);
    }
    return best;
  }

 private:
  // As point_at and back: integers rounded, inactive parameters in their place.
  Coordinates snapped(const Coordinates& x) const {
    return coordinates_of(space_, point_at(space_, x));
  }

  bool is_smooth(std::size_t i) const {
    const Parameter& p = space_.parameter(i);
    return !p.is_categorical() && p.range.numbers == Numbers::continuous;
  }

  Rows make_candidates(const Rows& bases) {
    Rows out{space_.size(), {}};
    const Sobol sobol(space_.size(), mix(settings_.key));
    Coordinates unit(space_.size());
    const int even = bases.size() == 0 ? settings_.candidates : settings_.candidates / 2;
    for (int i = 0; i < even; ++i) {
      sobol.point(static_cast<std::uint64_t>(i), unit);
      for (std::size_t d = 0; d < unit.size(); ++d) {
        if (space_.parameter(d).is_categorical()) {
          unit[d] = space_.from_unit(d, unit[d]);
        } else {
          unit[d] = box_.lower[d] + (box_.upper[d] - box_.lower[d]) * unit[d];
        }
      }
      out.add(snapped(unit));
    }
    for (int i = even; i < settings_.candidates; ++i) {
      out.add(neighbour(bases, static_cast<std::size_t>(i)));
    }
    return out;
  }

  // A few coordinates of a good row moved, by distances from a third of the box down to 1e-4 of it.
  Coordinates neighbour(const Rows& bases, std::size_t i) {
    const auto base = bases.row(i % bases.size());
    Coordinates x(base.begin(), base.end());
    const double distance = std::pow(10, stream_.uniform(-4, -0.5));
    const double share = std::max(0.3, 1.0 / static_cast<double>(x.size()));
    const std::size_t sure = stream_.below(x.size());
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (d != sure && stream_.uniform() > share) continue;
      const Parameter& p = space_.parameter(d);
      if (p.is_categorical()) {
        x[d] = static_cast<double>(stream_.below(p.categories.size()));
        continue;
      }
      const double width = box_.upper[d] - box_.lower[d];
      double step = distance * width * stream_.normal();
      if (!is_smooth(d)) {  // at least one integer further
        const double one = 1 / (p.range.max - p.range.min + 1);
        step += std::copysign(one, step);
      }
      x[d] = std::clamp(x[d] + step, box_.lower[d], box_.upper[d]);
    }
    return snapped(x);
  }

  // The best candidates that are not close to a better one.
  std::vector<std::size_t> spread_out(const Rows& rows, const std::vector<std::size_t>& order) {
    std::vector<std::size_t> chosen;
    const Layout layout = layout_of(space_);
    for (const std::size_t i : order) {
      if (chosen.size() >= static_cast<std::size_t>(settings_.starts)) break;
      const bool close = std::ranges::any_of(chosen, [&](std::size_t other) {
        double squares = 0;
        for (std::size_t d = 0; d < layout.size(); ++d) {
          squares += squared_difference(layout[d], rows.row(i)[d], rows.row(other)[d]);
        }
        return squares < 0.0025 * static_cast<double>(layout.size());
      });
      if (!close) chosen.push_back(i);
    }
    return chosen;
  }

  // Alternates gradient steps over numbers with steps to neighbours; returns the value at x.
  double climb(Coordinates& x) {
    double value = acquisition_(x, {});
    for (int round = 0; round < 3; ++round) {
      const double before = value;
      climb_smooth(x, value);
      const bool moved = climb_steps(x, value);
      if (!moved || value - before < 1e-3) break;
    }
    return value;
  }

  void climb_smooth(Coordinates& x, double& value) {
    std::vector<std::size_t> free;
    const Point point = point_at(space_, x);
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (is_smooth(d) && !is_inactive(point[d]) && box_.upper[d] > box_.lower[d])
        free.push_back(d);
    }
    if (free.empty()) return;
    Coordinates at = x, full(x.size());
    Coordinates start, lower, upper;
    for (const std::size_t d : free) {
      start.push_back(x[d]);
      lower.push_back(std::min(box_.lower[d], x[d]));
      upper.push_back(std::max(box_.upper[d], x[d]));
    }
    const Differentiable down = [&](std::span<const double> part, std::span<double> gradient) {
      for (std::size_t k = 0; k < free.size(); ++k) at[free[k]] = part[k];
      const double height = acquisition_(at, full);
      for (std::size_t k = 0; k < free.size(); ++k) gradient[k] = -full[free[k]];
      return -height;
    };
    const Minimum end = minimize_in_box(start, lower, upper, down,
                                        {.evaluations = settings_.evaluations,
                                         .gradient_tolerance = 1e-4,
                                         .value_tolerance = 1e-7,
                                         .first_step = 0.02});
    for (std::size_t k = 0; k < free.size(); ++k) x[free[k]] = end.x[k];
    value = -end.value;
  }

  // One pass over the coordinates that go in steps. True when something changed.
  bool climb_steps(Coordinates& x, double& value) {
    bool moved = false;
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (is_smooth(d)) continue;
      for (const double to : steps_from(x, d)) {
        Coordinates other = x;
        other[d] = to;
        other = snapped(other);
        const double height = acquisition_(other, {});
        if (height <= value) continue;
        x = other;
        value = height;
        moved = true;
      }
    }
    return moved;
  }

  std::vector<double> steps_from(const Coordinates& x, std::size_t d) const {
    std::vector<double> out;
    const Parameter& p = space_.parameter(d);
    const double here = point_at(space_, x)[d];
    if (is_inactive(here)) return out;
    if (p.is_categorical()) {
      for (std::size_t c = 0; c < p.categories.size(); ++c) {
        if (static_cast<double>(c) != here) out.push_back(static_cast<double>(c));
      }
      return out;
    }
    for (const double step : {-1.0, 1.0, -4.0, 4.0, -16.0, 16.0}) {
      const double to = here + step;
      if (to < p.range.min || to > p.range.max) continue;
      const double unit = to_unit(to, p.range, space_.scaling(d));
      if (unit >= box_.lower[d] - 1e-9 && unit <= box_.upper[d] + 1e-9) out.push_back(unit);
    }
    return out;
  }

  const Space& space_;
  const Acquisition& acquisition_;
  const Box& box_;
  const std::function<bool(const Point&)>& is_new_;
  const ClimbSettings& settings_;
  Stream stream_;
};

}  // namespace

std::optional<Summit> climb(const Space& space, const Acquisition& acquisition, const Box& box,
                            const Rows& bases, const std::function<bool(const Point&)>& is_new,
                            const ClimbSettings& settings) {
  return Climber(space, acquisition, box, is_new, settings).run(bases);
}

}  // namespace meridian::tune
