// What a study knows: its problem, and its trials in the order in which they were asked for.
//
// Everything a strategy decides is a function of these two values. They can be stored and read
// back; the study goes on as if nothing had happened.
//
// One rule for numbers: a value that is not finite is no measurement. A trial that reports NaN or
// an infinity as a final value ends as `failed`; its point counts as seen, and strategies that
// model the objective take it as no better than the worst that was measured.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "tune/space/space.h"

namespace meridian::tune {

enum class Direction { minimize, maximize };

struct Problem {
  Space space;
  std::vector<Direction> directions = {Direction::minimize};  // one per objective, at least one
  std::size_t constraints = 0;                                // values per trial; <= 0 is satisfied
  std::uint64_t seed = 0;
};

enum class TrialState {
  pending,   // asked for, running
  complete,  // told with values
  stopped,   // ended early on our advice; its last report stands for its value
  failed,    // told without a usable value
};

// An intermediate value of the first objective after so much resource (epochs, images, seconds).
struct Report {
  double resource = 0;
  double value = 0;
};

struct Trial {
  Point point;
  TrialState state = TrialState::pending;
  std::vector<double> values;       // of the objectives, as measured; empty unless complete/stopped
  std::vector<double> constraints;  // as many as the problem has, or none
  std::vector<Report> reports;      // by rising resource
  double cost = 0;                  // in whatever unit the study counts; 0 = unknown
  std::size_t told = 0;             // 1, 2, … in the order of tells; 0 while pending
  double budget = 0;                // resource granted by a strategy that rations it; 0 = no limit
  std::optional<std::size_t> parent;  // trial whose checkpoint it starts from
  std::optional<std::size_t> member;  // of a population, whose next stretch this is
};

// A result from an earlier study. `group` 0: the same data and algorithm, as good as our own;
// 1, 2, …: another task, related at best.
struct PriorTrial {
  Point point;
  std::vector<double> values;
  std::size_t group = 0;
};

class History {
 public:
  explicit History(std::vector<PriorTrial> prior = {});

  const std::vector<Trial>& trials() const { return trials_; }
  const std::vector<PriorTrial>& prior() const { return prior_; }
  std::size_t size() const { return trials_.size(); }
  std::size_t told() const { return told_; }
  // Numbers of trials by the order in which they were told.
  const std::vector<std::size_t>& order() const { return order_; }
  bool has_seen(const Point& point) const { return seen_.contains(point); }
  std::size_t seen() const { return seen_.size(); }  // distinct points
  // Changes with every change of the history; for caches.
  std::uint64_t revision() const { return revision_; }

  std::size_t add(Trial pending);  // returns its number
  // Throws Error(not_found) for a number never asked for, Error(failed_precondition) when it was
  // told already.
  void report(std::size_t number, Report report);
  void tell(std::size_t number, TrialState end, std::vector<double> values,
            std::vector<double> constraints = {}, double cost = 0);

 private:
  Trial& pending(std::size_t number);

  std::vector<PriorTrial> prior_;
  std::vector<Trial> trials_;
  std::vector<std::size_t> order_;
  std::set<Point, PointOrder> seen_;
  std::size_t told_ = 0;
  std::uint64_t revision_ = 0;
};

// `value` with the sign that makes less better.
inline double loss(double value, Direction direction) {
  return direction == Direction::minimize ? value : -value;
}

bool is_feasible(const Trial& trial);  // no constraint above 0

// The number of the best trial of a problem with one objective: complete (or stopped, when none is
// complete), feasible where any is; the earliest of equals. Nothing when no trial has a value.
std::optional<std::size_t> find_best(const Problem& problem, const History& history);

}  // namespace meridian::tune
