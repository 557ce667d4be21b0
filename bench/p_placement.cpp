// Plans of 10,000 rows over 12 regions: how long each objective takes, and how far from the best
// its plan is at most; then the same of few rows, where the best is known.
//
//   ninja -C build/release p_placement && build/release/bin/p_placement [ROWS [REGIONS]]
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "fleet/placement/plan.h"
#include "fleet/placement/random_problems.h"

namespace {

using namespace meridian::fleet::placement;
using Steady = std::chrono::steady_clock;

Problem large_problem(std::size_t rows, std::size_t regions) {
  ProblemMaker maker(2026);
  return maker.make(
      {.rows = rows, .regions = regions, .data = rows / 20, .types = 2, .most_instances = 480});
}

void plan_and_print(const char* what, const Problem& problem) {
  std::vector<double> times, cpu;
  Plan plan;
  for (int i = 0; i < 3; ++i) {
    const auto begin = Steady::now();
    const std::clock_t before = std::clock();
    plan = make_plan(problem);
    times.push_back(std::chrono::duration<double>(Steady::now() - begin).count());
    cpu.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  std::ranges::sort(times);
  std::ranges::sort(cpu);
  fmt::print(
      "{:<34} {:>6.3f} s wall ({:.3f}..{:.3f}), {:.3f} s CPU  {:>6} placed  {:>11.2f} USD  "
      "{:>8.2f} h  gap <= {:.2f} %\n",
      what, times[1], times[0], times[2], cpu[1], plan.rows.size() - plan.waiting,
      plan.cost.total(), plan.end, 100 * plan.gap);
}

void large(std::size_t rows, std::size_t regions) {
  fmt::print("{} rows, {} regions, median of 3 (least..most)\n", rows, regions);
  Problem problem = large_problem(rows, regions);
  Settings& s = problem.settings;
  s = {.objective = Objective::data};
  plan_and_print("data", problem);
  s = {.objective = Objective::cost};
  plan_and_print("cost", problem);
  const Plan cheapest = make_plan(problem);
  s = {.objective = Objective::time};
  plan_and_print("time", problem);
  const double fastest = make_plan(problem).end;
  s = {.objective = Objective::cost, .deadline_hours = 1.2 * fastest};
  plan_and_print("cost, due in 1.2 x the least time", problem);
  s.spot = SpotPolicy::deadline;
  plan_and_print("  spot only with time to spare", problem);
  s = {.objective = Objective::cost, .hard_usd = 0.5 * cheapest.cost.total()};
  plan_and_print("cost, half the money", problem);
  s = {.objective = Objective::time, .hard_usd = 1.1 * cheapest.cost.total()};
  plan_and_print("time, 1.1 x the least money", problem);
}

// Lists alone beside the best, where the search gives it.
void small() {
  double sum = 0, worst = 0;
  int compared = 0, same = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    ProblemMaker maker(seed);
    Problem problem = maker.make({.rows = 8, .regions = 3, .data = 3});
    problem.settings = maker.make_settings(problem);
    const Plan best = make_plan(problem);
    problem.settings.search_nodes = 0;
    const Plan listed = make_plan(problem);
    const bool time = problem.settings.objective == Objective::time;
    const double a = time ? listed.end : listed.cost.total(),
                 b = time ? best.end : best.cost.total();
    if (!best.exact || listed.waiting != best.waiting || b == 0) continue;
    ++compared;
    same += a <= b * (1 + 1e-9) ? 1 : 0;
    sum += a / b - 1;
    worst = std::max(worst, a / b - 1);
  }
  fmt::print(
      "8 rows, 3 regions: lists against the best, {} problems: {} the same, {:.2f} % more in "
      "the mean, {:.1f} % at worst\n",
      compared, same, 100 * sum / compared, 100 * worst);
}

}  // namespace

int main(int argc, char** argv) {
  large(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000,
        argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 12);
  small();
}
