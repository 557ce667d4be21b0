// The point of a space where an acquisition is highest, found from many starts.
//
// Candidates: Sobol points of the region and neighbours of the best rows at several distances. The
// most promising are climbed: numbers by gradient, integers and categories by trying neighbours,
// until neither gains. The end is a point of the space (integers rounded) that was not seen before,
// where there is one among the candidates.
//
// Deterministic: a function of its arguments.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "tune/bayes/acquisition.h"
#include "tune/space/space.h"

namespace meridian::tune {

// A box of coordinates; categories are free.
struct Box {
  std::vector<double> lower, upper;
};

struct ClimbSettings {
  int candidates = 512;
  int starts = 4;
  int evaluations = 40;   // per start and round
  std::uint64_t key = 0;  // of the random numbers
};

struct Summit {
  Point point;
  double value = 0;
};

// `bases`: coordinates of good rows, best first. `is_new`: whether a point may be proposed.
std::optional<Summit> climb(const Space& space, const Acquisition& acquisition, const Box& box,
                            const Rows& bases, const std::function<bool(const Point&)>& is_new,
                            const ClimbSettings& settings);

}  // namespace meridian::tune
