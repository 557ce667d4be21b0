// Plays strategies against functions whose minimum is known, and prints what they found and what
// their suggestions cost.
//
//   p9_search shifts FUNCTION FIRST_SEED SEEDS                 "seed shift shift …" per line
//   p9_search play FUNCTION STRATEGY BUDGET FIRST_SEED SEEDS [batch N] [noise S]
//                                                              "seed regret milliseconds" per line
//   p9_search time FUNCTION STRATEGY OBSERVATIONS SEED COUNT   milliseconds per suggestion, one per
//   line
//
// The functions are shifted by the seed, so that no strategy profits from an optimum in the middle;
// p9_search.py plays the peers with the same shifts. Regret is the true value of the best trial
// (the one with the least measured value) above the minimum. Time is that of the processor.
//
// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <numbers>
#include <string>

#include "tune/numeric/stream.h"
#include "tune/study.h"

namespace {

using namespace meridian::tune;
using Vector = std::vector<double>;

struct Function {
  std::size_t dimensions;
  double low, high;  // of every number
  double minimum;
  double shift;  // largest shift, as a share of the range
  double (*value)(const Vector& x);
  bool is_mixed = false;  // the last two parameters: an integer 1..10, one of five categories
};

double branin(const Vector& u) {
  const double pi = std::numbers::pi, x = u[0] * 15 - 5, y = u[1] * 15;
  const double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

double hartmann6(const Vector& x) {
  static const double a[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                 {0.05, 10, 17, 0.1, 8, 14},
                                 {3, 3.5, 1.7, 10, 17, 8},
                                 {17, 8, 0.05, 10, 0.1, 14}};
  static const double p[4][6] = {{.1312, .1696, .5569, .0124, .8283, .5886},
                                 {.2329, .4135, .8307, .3736, .1004, .9991},
                                 {.2348, .1451, .3522, .2883, .3047, .6650},
                                 {.4047, .8828, .8732, .5743, .1091, .0381}};
  static const double c[4] = {1, 1.2, 3, 3.2};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double r = 0;
    for (std::size_t j = 0; j < 6; ++j) r += a[i][j] * (x[j] - p[i][j]) * (x[j] - p[i][j]);
    sum -= c[i] * std::exp(-r);
  }
  return sum;
}

double ackley(const Vector& x) {
  double squares = 0, waves = 0;
  const double n = static_cast<double>(x.size());
  for (const double v : x) {
    squares += v * v / n;
    waves += std::cos(2 * std::numbers::pi * v) / n;
  }
  return -20 * std::exp(-0.2 * std::sqrt(squares)) - std::exp(waves) + 20 + std::numbers::e;
}

double rosenbrock(const Vector& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
  }
  return sum;
}

// Branin whose level and tilt depend on a category, plus a bowl over an integer.
double mixed(const Vector& x) {
  static const double level[5] = {2, 0, 1, 3, 5};
  const auto category = static_cast<std::size_t>(x[3]);
  return branin(x) + level[category] * (1 + 0.2 * x[0]) + 0.25 * (x[2] - 7) * (x[2] - 7);
}

const std::map<std::string, Function> functions = {
    {"branin", {2, 0, 1, 0.39788735772973816, 0.1, branin}},
    {"hartmann6", {6, 0, 1, -3.322368011415514, 0.1, hartmann6}},
    {"ackley5", {5, -32.768, 32.768, 0, 0.25, ackley}},
    {"rosenbrock4", {4, -5, 10, 0, 0.1, rosenbrock}},
    {"hartmann6in20", {20, 0, 1, -3.322368011415514, 0.1, hartmann6}},
    {"ackley20", {20, -32.768, 32.768, 0, 0.25, ackley}},
    {"mixed", {4, 0, 1, 0.39788735772973816, 0.1, mixed, true}}};

double cpu_milliseconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

Vector shift_of(const Function& f, std::uint64_t seed) {
  Stream stream({seed, 77});
  Vector shift(f.dimensions);
  for (double& s : shift) s = f.shift * (f.high - f.low) * stream.uniform(-1, 1);
  if (f.is_mixed) shift[2] = shift[3] = 0;
  return shift;
}

Problem problem_of(const Function& f, std::uint64_t seed) {
  std::vector<Parameter> parameters;
  for (std::size_t d = 0; d < f.dimensions; ++d) {
    parameters.push_back(
        {.name = "x" + std::to_string(d), .range = {f.low, f.high}, .scaling = Scaling::linear});
  }
  if (f.is_mixed) {
    parameters[2].range = {1, 10, Numbers::integer};
    parameters[3].categories = {"a", "b", "c", "d", "e"};
  }
  return {.space = Space(parameters), .seed = seed};
}

double value_at(const Function& f, Point x, const Vector& shift) {
  for (std::size_t d = 0; d < x.size(); ++d) x[d] -= shift[d];
  return f.value(x);
}

struct Options {
  std::size_t batch = 1;
  double noise = 0;
};

void play(const Function& f, const std::string& strategy, std::size_t budget, std::uint64_t seed,
          const Options& options) {
  const Vector shift = shift_of(f, seed);
  Study study(problem_of(f, seed), strategy);
  Stream noise({seed, 78});
  double asking = 0;
  while (study.history().size() < budget) {
    std::vector<std::size_t> asked;
    while (asked.size() < options.batch && study.history().size() < budget) {
      const double start = cpu_milliseconds();
      asked.push_back(*study.ask());
      asking += cpu_milliseconds() - start;
    }
    for (const std::size_t trial : asked) {
      const double value = value_at(f, study.point(trial), shift);
      study.tell(trial, {.values = {value + options.noise * noise.normal()}});
    }
  }
  std::printf("%llu %.6g %.4g\n", static_cast<unsigned long long>(seed),
              value_at(f, study.point(*study.best()), shift) - f.minimum,
              asking / static_cast<double>(budget));
}

void measure(const Function& f, const std::string& strategy, std::size_t observations,
             std::uint64_t seed, std::size_t count) {
  const Vector shift = shift_of(f, seed);
  const Problem problem = problem_of(f, seed);
  History history;
  Stream stream({seed, 79});
  Vector unit(f.dimensions);
  for (std::size_t i = 0; i < observations; ++i) {
    for (double& u : unit) u = stream.uniform();
    Trial trial;
    trial.point = problem.space.from_unit(unit);
    history.add(trial);
    history.tell(i, TrialState::complete, {value_at(f, trial.point, shift)});
  }
  Study study(problem, strategy, history);
  for (std::size_t i = 0; i < count; ++i) {
    const double start = cpu_milliseconds();
    const std::size_t trial = *study.ask();
    std::printf("%.4g\n", cpu_milliseconds() - start);
    study.tell(trial, {.values = {value_at(f, study.point(trial), shift)}});
  }
}

int usage() {
  std::fputs("see the head of p9_search.cpp\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || !functions.contains(argv[2])) return usage();
  const std::string command = argv[1];
  const Function& f = functions.at(argv[2]);
  if (command == "shifts") {
    const std::uint64_t first = std::stoull(argv[3]);
    for (std::uint64_t seed = first; seed < first + std::stoull(argv[4]); ++seed) {
      std::printf("%llu", static_cast<unsigned long long>(seed));
      for (const double s : shift_of(f, seed)) std::printf(" %.17g", s);
      std::printf("\n");
    }
    return 0;
  }
  if (argc < 7) return usage();
  if (command == "time") {
    measure(f, argv[3], std::stoul(argv[4]), std::stoull(argv[5]), std::stoul(argv[6]));
    return 0;
  }
  Options options;
  for (int i = 7; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "batch")) options.batch = std::stoul(argv[i + 1]);
    if (!std::strcmp(argv[i], "noise")) options.noise = std::stod(argv[i + 1]);
  }
  const std::uint64_t first = std::stoull(argv[5]);
  for (std::uint64_t seed = first; seed < first + std::stoull(argv[6]); ++seed) {
    play(f, argv[3], std::stoul(argv[4]), seed, options);
  }
  return 0;
}
