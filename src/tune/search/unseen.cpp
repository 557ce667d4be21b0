// SPDX-License-Identifier: Apache-2.0
#include "tune/search/unseen.h"

#include "tune/numeric/stream.h"
#include "tune/search/strategy.h"

namespace meridian::tune {

Point prefer_unseen(const Problem& problem, const History& history, Point wanted) {
  if (!history.has_seen(wanted)) return wanted;
  Stream stream({problem.seed, static_cast<std::uint64_t>(Purpose::unseen), history.size()});
  std::vector<double> unit(problem.space.size());
  for (int attempt = 0; attempt < 200; ++attempt) {
    for (double& u : unit) u = stream.uniform();
    Point point = problem.space.from_unit(unit);
    if (!history.has_seen(point)) return point;
  }
  const auto all = problem.space.enumerate(listed_points);
  if (!all) return wanted;
  std::vector<const Point*> left;
  for (const Point& point : *all) {
    if (!history.has_seen(point)) left.push_back(&point);
  }
  return left.empty() ? wanted : *left[stream.below(left.size())];
}

bool is_exhausted(const Problem& problem, const History& history) {
  const auto count = problem.space.count();
  return count && *count <= listed_points && history.seen() >= *count;
}

}  // namespace meridian::tune
