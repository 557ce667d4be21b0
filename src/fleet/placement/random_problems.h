// Problems for tests and benchmarks, by a seed. Only they include it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "fleet/placement/problem.h"

namespace meridian::fleet::placement {

struct Shape {
  std::size_t rows = 3, regions = 3, data = 2, types = 2;
  int most_instances = 6;  // of a pool; at least 1
};

// Prices, times and sizes are multiples of 1/8: sums of them are exact, whatever their order.
class ProblemMaker {
 public:
  explicit ProblemMaker(std::uint64_t seed) : engine_(seed) {}

  Problem make(const Shape& shape) {
    Problem p;
    for (std::size_t d = 0; d < shape.data; ++d)
      p.data.push_back({.name = fmt::format("s3://data/{}", d),
                        .gigabytes = eighths(1, 200),
                        .regions = {region_name(below(shape.regions))}});
    for (std::size_t r = 0; r < shape.regions; ++r) p.regions.push_back(make_region(r, shape));
    for (std::size_t a = 0; a < shape.regions; ++a)
      for (std::size_t b = 0; b < shape.regions; ++b)
        if (a != b && !rarely())
          p.links.push_back({region_name(a), region_name(b), 0.02, 10.0 * (1 + below(10))});
    for (std::size_t i = 0; i < shape.rows; ++i) p.rows.push_back(make_row(i, shape));
    return p;
  }

  Settings make_settings(const Problem& p) {
    Settings s{.objective = static_cast<Objective>(below(4)),
               .spot = static_cast<SpotPolicy>(below(3))};
    double hours = 0;
    for (const Row& row : p.rows) hours += row.hours;
    if (below(2) == 0) s.deadline_hours = std::ceil(hours * eighths(2, 10));
    if (below(3) == 0) s.hard_usd = std::ceil(hours * eighths(4, 80));
    return s;
  }

  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  double eighths(std::uint64_t low, std::uint64_t high) {
    return static_cast<double>(low + below(high - low + 1)) / 8;
  }

 private:
  bool rarely() { return below(6) == 0; }
  static std::string region_name(std::uint64_t r) { return fmt::format("region-{}", r + 1); }
  static std::string type_name(std::uint64_t t) { return fmt::format("ml.t{}.large", t + 1); }

  Region make_region(std::size_t index, const Shape& shape) {
    Region region{.name = region_name(index)};
    for (std::size_t t = 0; t < shape.types; ++t) {
      const std::string type = type_name(t);
      const int most =
          1 + static_cast<int>(below(static_cast<std::uint64_t>(shape.most_instances)));
      if (!rarely()) region.pools.push_back({{type}, most, rarely() ? 1 : 0});
      const double price = eighths(8, 40);
      Offer on_demand{.type = type, .price = price};
      if (rarely()) on_demand.price.reset();
      region.offers.push_back(on_demand);
      if (rarely()) continue;
      Offer spot{.type = type,
                 .market = Market::spot,
                 .zone = "a",
                 .price = price / 4,
                 .reclaims_per_hour = eighths(0, 8)};
      if (rarely()) spot.reclaimed_hours_ago = 0.5;
      region.offers.push_back(spot);
    }
    return region;
  }

  Row make_row(std::size_t index, const Shape& shape) {
    Row row{.id = fmt::format("row-{}", index + 1),
            .hours = eighths(2, 32),
            .type = type_name(below(shape.types)),
            .instances = 1 + static_cast<int>(below(3))};
    if (shape.data > 0 && !rarely()) row.data = fmt::format("s3://data/{}", below(shape.data));
    if (rarely()) row.fixed = region_name(below(shape.regions));
    if (rarely())
      row.allowed = {region_name(below(shape.regions)), region_name(below(shape.regions))};
    row.images_per_second = 100.0 * row.instances;
    return row;
  }

  std::mt19937_64 engine_;
};

}  // namespace meridian::fleet::placement
