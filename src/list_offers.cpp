// SPDX-License-Identifier: Apache-2.0
#include "list_offers.h"

#include <algorithm>

namespace meridian {
namespace {

struct ListedPrice {
  const char *type, *region;
  double on_demand, spot;
};
constexpr ListedPrice kListed[] = {
#include "region/capacity/list_prices.inc"
};

}  // namespace

void seed_offers(fleet::Catalog& catalog) {
  for (const base::Json& table : catalog.tables())
    if (base::string_or(table, "Name") == "offers" && base::int_or(table, "Rows", 0) > 0) return;
  fleet::Table offers{.columns = {"region", "instance_type", "market", "price", "as_of", "source"},
                      .rows = {}};
  for (const ListedPrice& listed : kListed) {
    const auto add = [&](const char* market, double price, const char* source) {
      offers.rows.push_back({listed.region, listed.type, market, price, "2022", source});
    };
    add("on-demand", listed.on_demand, "EC2 list price 2022");
    add("spot", listed.spot, "EC2 spot price 2022, lowest zone");
  }
  catalog.import("offers", offers);
}

std::vector<fleet::placement::Pool> pools_of(const base::Json& capacity) {
  std::vector<fleet::placement::Pool> pools;
  const base::Json* list = base::find(capacity, "pools");
  if (list == nullptr) return pools;
  for (const base::Json& entry : list->as_array()) {
    fleet::placement::Pool pool{.types = {},
                                .instances = static_cast<int>(base::int_or(entry, "count", 0))};
    for (const base::Json& type : base::find(entry, "types")->as_array())
      pool.types.emplace_back(type.as_string());
    pools.push_back(std::move(pool));
  }
  // A pool for named types goes before one for all.
  std::ranges::stable_partition(pools, [](const auto& pool) { return !pool.types.empty(); });
  return pools;
}

}  // namespace meridian
