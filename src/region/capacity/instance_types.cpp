// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>

#include "region/capacity/capacity.h"

namespace meridian::region::capacity {
namespace {

struct TypeRow {
  std::string_view name;
  int cpus;
  double memory_gib;
  int gpus;
};
constexpr TypeRow kTypes[] = {
#include "region/capacity/instance_types.inc"
};

struct PriceRow {
  std::string_view type, region;
  double on_demand, spot;
};
constexpr PriceRow kPrices[] = {
#include "region/capacity/list_prices.inc"
};

}  // namespace

std::optional<ListPrice> find_list_price(std::string_view type, std::string_view region) {
  for (std::string_view where : {region, std::string_view("us-east-1")})
    for (const PriceRow& row : kPrices)
      if (row.type == type && row.region == where)
        return ListPrice{row.on_demand, row.spot, "EC2 list price 2022, " + std::string(where)};
  return std::nullopt;
}

std::optional<InstanceType> find_instance_type(std::string_view name) {
  auto row = std::find_if(std::begin(kTypes), std::end(kTypes),
                          [&](const TypeRow& each) { return each.name == name; });
  if (row == std::end(kTypes)) return std::nullopt;
  InstanceType type{.name = std::string(name), .cpus = row->cpus, .gpus = row->gpus};
  type.memory_bytes = static_cast<std::uint64_t>(row->memory_gib * 1024) << 20;
  if (auto price = find_list_price(name, "us-east-1")) {
    type.price_per_hour = price->on_demand;
    type.price_source = price->source;
  }
  return type;
}

int cpu_share(const Pool& pool, std::string_view type, int gang_size, int cores) {
  if (pool.cpus > 0) return std::max(1, static_cast<int>(std::floor(pool.cpus)));
  int share = std::max(1, cores / std::max(1, gang_size));
  auto known = find_instance_type(type);
  return known ? std::min(share, std::max(1, known->cpus)) : share;
}

}  // namespace meridian::region::capacity
