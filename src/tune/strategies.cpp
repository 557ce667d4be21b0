// SPDX-License-Identifier: Apache-2.0
#include "tune/strategies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "tune/bayes/bayesian.h"
#include "tune/search/cma_es.h"
#include "tune/search/designs.h"
#include "tune/search/population.h"
#include "tune/search/promotion.h"
#include "tune/search/tpe.h"

namespace meridian::tune {

namespace {

struct Named {
  std::string_view name;
  std::unique_ptr<Strategy> (*make)();
};

constexpr Named table[] = {
    {"Random", [] { return make_random(); }},
    {"Grid", [] { return make_grid(); }},
    {"Bayesian", [] { return make_bayesian(); }},
    // Its stopping is a rule of its own (early_stopping.h); configurations are drawn by chance.
    {"Hyperband", [] { return make_random(); }},
    {"Sobol", [] { return make_sobol(); }},
    {"TPE", [] { return make_tpe(); }},
    {"CMA-ES", [] { return make_cma_es(); }},
    {"ASHA", [] { return make_promotion(); }},
    {"PBT", [] { return make_population(); }},
};

}  // namespace

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (const Named& entry : table) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name) {
  for (const Named& entry : table) {
    if (entry.name == name) return entry.make();
  }
  throw base::Error(
      base::Code::invalid_argument,
      fmt::format("unknown strategy '{}'; there are: {}", name, fmt::join(strategy_names(), ", ")));
}

}  // namespace meridian::tune
