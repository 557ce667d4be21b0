// A history as a model sees it: rows of coordinates, and losses.
//
// Coordinates are places in [0, 1] for numbers and indexes for categories; a parameter that is not
// active lies in the middle, or is a category of its own (-1), so that configurations which differ
// only in what does not matter are the same row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tune/model/kernel.h"
#include "tune/space/trial.h"

namespace meridian::tune {

Layout layout_of(const Space& space);
std::vector<double> coordinates_of(const Space& space, const Point& point);
Point point_at(const Space& space, std::span<const double> coordinates);

struct Observations {
  Rows rows;                        // prior ones, then trials that ended in the order of tells
  std::vector<double> losses;       // less is better; failed trials get the worst that was measured
  std::vector<std::size_t> groups;  // of prior rows (trial.h); 0 for our own
  std::vector<std::size_t> trials;  // numbers; npos for prior rows
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

// Of one objective, after the first `told` tells only: the same whatever was told later.
Observations observe(const Problem& problem, const History& history, std::size_t objective,
                     std::size_t told);

Rows pending_rows(const Problem& problem, const History& history);

// At most `limit` of the rows: the half with the least losses, and an even choice of the others, in
// their order. All when there are no more.
std::vector<std::size_t> most_telling(std::span<const double> losses, std::size_t limit);

}  // namespace meridian::tune
