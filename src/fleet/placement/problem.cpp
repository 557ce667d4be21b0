// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement/problem.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"

namespace meridian::fleet::placement {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw base::Error(base::Code::invalid_argument, std::move(message));
}

void require(double value, const std::string& what) {
  if (!(value >= 0) || !std::isfinite(value))
    refuse(fmt::format("{} is {}; a number of 0 or more is wanted", what, value));
}

void check_row(const Row& row, const std::set<std::string>& data) {
  require(row.hours, fmt::format("row '{}': hours", row.id));
  if (row.instances < 1) refuse(fmt::format("row '{}': instances: at least 1", row.id));
  if (!row.data.empty() && !data.contains(row.data))
    refuse(fmt::format("row '{}': no data '{}'", row.id, row.data));
}

void check_region(const Region& region) {
  for (const Pool& pool : region.pools) {
    require(pool.instances, fmt::format("region {}: a pool's instances", region.name));
    require(pool.reserved, fmt::format("region {}: a pool's reserve", region.name));
  }
  std::set<std::tuple<std::string, Market, std::string>> offers;
  for (const Offer& offer : region.offers) {
    if (!offers.emplace(offer.type, offer.market, offer.zone).second)
      refuse(fmt::format("region {}: {} {} {} is offered twice", region.name, offer.type,
                         name(offer.market), offer.zone));
    const auto what = [&](std::string_view field) {
      return fmt::format("region {}: {} of {}", region.name, field, offer.type);
    };
    require(offer.price.value_or(0), what("the price"));
    require(offer.reclaims_per_hour, what("the reclaim rate"));
    require(offer.reclaimed_hours_ago.value_or(0), what("the last reclaim's age"));
  }
}

void check_settings(const Settings& settings) {
  require(settings.deadline_hours.value_or(0), "the deadline");
  require(settings.soft_usd.value_or(0), "the soft budget");
  require(settings.hard_usd.value_or(0), "the hard budget");
  require(settings.avoid_hours, "the time that a zone is avoided");
  require(settings.checkpoints.write_hours, "the time a checkpoint takes");
  require(settings.checkpoints.restart_hours, "the time a restart takes");
  if (!(settings.checkpoints.every_hours > 0)) refuse("the time between checkpoints: above 0");
}

}  // namespace

std::string_view name(Market market) { return market == Market::spot ? "spot" : "on-demand"; }

void check(const Problem& problem) {
  std::set<std::string> data, regions;
  std::set<std::pair<std::string, std::string>> links;
  for (const Data& set : problem.data) {
    require(set.gigabytes.value_or(0), fmt::format("data '{}': gigabytes", set.name));
    if (!data.insert(set.name).second) refuse(fmt::format("data '{}' is there twice", set.name));
  }
  for (const Region& region : problem.regions) {
    if (!regions.insert(region.name).second)
      refuse(fmt::format("region {} is there twice", region.name));
    check_region(region);
  }
  for (const Link& link : problem.links) {
    const std::string what = fmt::format("link {} to {}", link.from, link.to);
    require(link.usd_per_gb, what + ": its price");
    if (!(link.mb_per_second > 0)) refuse(what + ": its speed is above 0 MB/s");
    if (!links.emplace(link.from, link.to).second) refuse(what + " is there twice");
  }
  for (const Row& row : problem.rows) check_row(row, data);
  check_settings(problem.settings);
}

}  // namespace meridian::fleet::placement
