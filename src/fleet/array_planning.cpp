// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_planning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "fleet/database.h"
#include "fleet/template.h"
#include "kube/object.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonObject;
using placement::Market;

std::string text(const JsonObject& row, std::string_view column) {
  const auto found = row.find(column);
  return found == row.end() ? "" : text_of(found->value());
}

std::optional<double> number(const JsonObject& row, std::string_view column) {
  const std::string value = text(row, column);
  double out = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (value.empty() || error != std::errc() || end != value.data() + value.size())
    return std::nullopt;
  return out;
}

placement::Region& region_of(placement::Problem& problem, const std::string& name) {
  const auto found = std::ranges::find(problem.regions, name, &placement::Region::name);
  if (found != problem.regions.end()) return *found;
  return problem.regions.emplace_back(placement::Region{.name = name, .pools = {}, .offers = {}});
}

// One line of catalog.offers.
void add_offer(const JsonObject& line, const Grounds& grounds, placement::Problem& problem) {
  const std::string name = text(line, "region"), type = text(line, "instance_type");
  const bool known = grounds.pools.contains(name);
  const auto capacity = number(line, "capacity");
  // A price list alone makes no region: nobody said that there are instances.
  if (!known && !capacity) return;
  placement::Region& region = region_of(problem, name);
  const bool pooled = std::ranges::any_of(region.pools, [&](const placement::Pool& pool) {
    return std::ranges::count(pool.types, type) > 0;
  });
  if (!known && !pooled) region.pools.push_back({{type}, static_cast<int>(*capacity), 0});
  placement::Offer offer{
      .type = type,
      .market = text(line, "market") == "spot" ? Market::spot : Market::on_demand,
      .zone = text(line, "zone"),
      .price = number(line, "price"),
      .reclaims_per_hour = number(line, "reclaims_per_hour").value_or(0)};
  if (const auto at = kube::parse_time(text(line, "reclaimed_at")); at && at->ms <= grounds.now.ms)
    offer.reclaimed_hours_ago = static_cast<double>(grounds.now.ms - at->ms) / 3.6e6;
  region.offers.push_back(std::move(offer));
}

struct Dataset {
  std::string region;
  std::optional<double> bytes;
};
using Datasets = std::map<std::string, Dataset>;  // by URI, without a slash at its end

std::string bare(std::string uri) {
  while (uri.ends_with('/')) uri.pop_back();
  return uri;
}

// The data set of that URI, or the nearest above it.
Datasets::const_iterator find_dataset(const Datasets& datasets, std::string uri) {
  for (uri = bare(std::move(uri)); uri.size() > 5; uri.resize(uri.rfind('/'))) {
    if (const auto found = datasets.find(uri); found != datasets.end()) return found;
    if (uri.rfind('/') == std::string::npos) break;
  }
  return datasets.end();
}

// What the row reads: the largest of its channels' data sets; its own column `region` if the
// catalog knows none.
placement::Data data_of(const RowPlan& plan, const JsonObject& row, const Datasets& datasets) {
  placement::Data best;
  double most = -1;
  const auto channels = plan.request.find("InputDataConfig");
  if (channels != plan.request.end() && channels->value().is_array()) {
    for (const Json& channel : channels->value().get_array()) {
      const Json* uri = base::find_path(channel, "DataSource.S3DataSource.S3Uri");
      if (uri == nullptr) continue;
      const auto found = find_dataset(datasets, text_of(*uri));
      if (found == datasets.end() || found->second.region.empty()) continue;
      const double bytes = found->second.bytes.value_or(0);
      if (bytes <= most) continue;
      most = bytes;
      best = {.name = found->first, .gigabytes = std::nullopt, .regions = {found->second.region}};
      if (found->second.bytes) best.gigabytes = bytes / 1e9;
    }
  }
  if (best.name.empty() && !text(row, "region").empty())
    best = {
        .name = "data of " + plan.key, .gigabytes = std::nullopt, .regions = {text(row, "region")}};
  return best;
}

std::optional<double> past(const Grounds& grounds, std::string_view column) {
  if (grounds.history.rows.empty()) return std::nullopt;
  return number(grounds.history.row(0), column);
}

// Hours and images per second of the row.
void predict_work(const PlacementSpec& spec, const JsonObject& columns, const Grounds& grounds,
                  double limit_seconds, placement::Row& row) {
  const auto measured = past(grounds, "images_per_second");
  std::vector<placement::Measured> history;
  if (measured) history.push_back({row.type, row.instances, *measured});
  const auto rate =
      placement::predict(history, spec.step ? &*spec.step : nullptr, row.type, row.instances);
  if (rate) row.images_per_second = rate->images_per_second;
  double seconds = past(grounds, "seconds").value_or(limit_seconds);
  if (spec.work.is_object()) {
    const Json work = fill(spec.work, columns);
    const auto given = [&](std::string_view field) -> std::optional<double> {
      const Json* value = base::find(work, field);
      if (value == nullptr) return std::nullopt;
      const auto amount = number(work.get_object(), field);
      if (!amount || *amount < 0)
        throw base::Error(base::Code::invalid_argument,
                          fmt::format("row '{}': spec.work.{}: '{}' is not a number of 0 or more",
                                      row.id, field, text_of(*value)));
      return amount;
    };
    if (const auto fixed = given("seconds")) {
      seconds = *fixed;
    } else if (const auto images = given("images"); images && rate) {
      seconds = *images * given("epochs").value_or(1) / rate->images_per_second;
    }
  }
  row.hours = seconds / 3'600;
}

placement::Row make_row(const ArraySpec& spec, const RowPlan& plan, const JsonObject& columns,
                        const Grounds& grounds) {
  const Json request(plan.request);
  const Json* resources = base::find(request, "ResourceConfig");
  placement::Row row{.id = plan.key, .fixed = plan.region};
  if (resources != nullptr) {
    row.type = base::string_or(*resources, "InstanceType");
    row.instances = static_cast<int>(base::int_or(*resources, "InstanceCount", 1));
  }
  row.allowed = spec.placement.allowed_regions;
  const Json* limit = base::find_path(request, "StoppingCondition.MaxRuntimeInSeconds");
  predict_work(spec.placement, columns, grounds,
               limit != nullptr && limit->is_number() ? limit->to_number<double>() : 86'400, row);
  return row;
}

}  // namespace

Grounds read_grounds(const std::filesystem::path& catalog, RegionPools pools, const std::string& ns,
                     const std::string& name, base::Timestamp now) {
  const QuerySource source{.database = {}, .catalog = catalog};
  const auto quoted = [](const std::string& value) {
    return "'" + base::replace_all(value, "'", "''") + "'";
  };
  Grounds out{.pools = std::move(pools), .now = now};
  out.offers = query(source, "SELECT * FROM offers ORDER BY region, instance_type, market");
  out.links = query(source, "SELECT * FROM links ORDER BY from_region, to_region");
  out.datasets = query(source, "SELECT uri, region, bytes FROM datasets");
  out.history = query(
      source, fmt::format("SELECT avg(metrics ->> 'images_per_second') AS images_per_second, "
                          "avg((ended_ms - started_ms) / 1000.0) AS seconds FROM array_results "
                          "WHERE state = 'Succeeded' AND namespace = {} AND array = {}",
                          quoted(ns), quoted(name)));
  return out;
}

placement::Problem make_problem(const ArraySpec& spec, const std::vector<RowPlan>& plans,
                                const Table& rows, const Grounds& grounds) {
  placement::Problem problem{.settings = spec.placement.settings};
  auto& settings = problem.settings;
  settings.deadline_hours = spec.placement.due_hours;
  if (spec.placement.due)
    settings.deadline_hours = std::max<double>(0, spec.placement.due->ms - grounds.now.ms) / 3.6e6;
  for (auto* budget : {&settings.soft_usd, &settings.hard_usd})
    if (*budget) *budget = std::max(0.0, **budget - grounds.spent_usd);
  for (const auto& [name, pools] : grounds.pools) region_of(problem, name).pools = pools;
  for (std::size_t i = 0; i < grounds.offers.rows.size(); ++i)
    add_offer(grounds.offers.row(i), grounds, problem);
  for (auto& region : problem.regions)
    for (auto& pool : region.pools) pool.reserved = spec.placement.reserve;
  for (std::size_t i = 0; i < grounds.links.rows.size(); ++i) {
    const JsonObject line = grounds.links.row(i);
    const auto price = number(line, "price_per_gb"), speed = number(line, "mbit_per_s");
    if (price && speed && *speed > 0)
      problem.links.push_back(
          {text(line, "from_region"), text(line, "to_region"), *price, *speed / 8});
  }
  Datasets datasets;
  for (std::size_t i = 0; i < grounds.datasets.rows.size(); ++i) {
    const JsonObject line = grounds.datasets.row(i);
    datasets[bare(text(line, "uri"))] = {text(line, "region"), number(line, "bytes")};
  }
  std::map<std::string, bool> known;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    placement::Row row = make_row(spec, plans[i], rows.row(i), grounds);
    placement::Data data = data_of(plans[i], rows.row(i), datasets);
    row.data = data.name;
    if (!data.name.empty() && !std::exchange(known[data.name], true))
      problem.data.push_back(std::move(data));
    problem.rows.push_back(std::move(row));
  }
  return problem;
}

void apply_plan(const placement::Plan& plan, std::vector<RowPlan>& plans) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const placement::Placement& place = plan.rows[i];
    if (!place.waits) plans[i].region = place.region;
    plans[i].waits_for = place.waits ? place.reason : "";
    if (place.waits || place.market != Market::spot) continue;
    JsonObject& request = plans[i].request;
    request["EnableManagedSpotTraining"] = true;
    Json& stop = request["StoppingCondition"];
    if (!stop.is_object()) stop = JsonObject{};
    if (base::find(stop, "MaxWaitTimeInSeconds") == nullptr)
      stop.get_object()["MaxWaitTimeInSeconds"] =
          2 * base::int_or(stop, "MaxRuntimeInSeconds", 86'400);
  }
}

namespace {

struct Some {
  std::vector<std::size_t> rows;  // of the array
  std::vector<RowPlan> plans;
  Table table;
};

Some take_out(const std::vector<std::size_t>& which, const Table& rows,
              const std::vector<RowPlan>& plans) {
  Some out{.rows = which, .plans = {}, .table = {.columns = rows.columns, .rows = {}}};
  for (const std::size_t row : which) {
    out.plans.push_back(plans[row]);
    out.table.rows.push_back(rows.rows[row]);
  }
  return out;
}

// What rows cost on demand in the regions that they have.
double cost_in_place(ArraySpec spec, const Some& some, const Grounds& grounds) {
  if (some.rows.empty()) return 0;
  spec.placement.settings = {.objective = placement::Objective::pinned,
                             .spot = placement::SpotPolicy::never,
                             .search_nodes = 0};
  spec.placement.due.reset();
  spec.placement.due_hours.reset();
  spec.placement.allowed_regions.clear();
  return make_plan(make_problem(spec, some.plans, some.table, grounds)).cost.total();
}

}  // namespace

void place_pending(const ArraySpec& spec, const Table& rows, const std::vector<RowState>& states,
                   Grounds grounds, std::vector<RowPlan>& plans) {
  std::vector<std::size_t> pending, untold;
  for (std::size_t row = 0; row < plans.size(); ++row) {
    const RowState& state = states[row];
    if (state.phase == RowPhase::pending) {
      if (spec.placement.is_planned()) plans[row].region.clear();
      pending.push_back(row);
      continue;
    }
    plans[row].region = state.region;
    if (state.cost_usd) {
      grounds.spent_usd += *state.cost_usd;
    } else {
      untold.push_back(row);
    }
  }
  if (spec.placement.settings.hard_usd || spec.placement.settings.soft_usd)
    grounds.spent_usd += cost_in_place(spec, take_out(untold, rows, plans), grounds);
  Some asked = take_out(pending, rows, plans);
  apply_plan(make_plan(make_problem(spec, asked.plans, asked.table, grounds)), asked.plans);
  for (std::size_t i = 0; i < asked.rows.size(); ++i)
    plans[asked.rows[i]] = std::move(asked.plans[i]);
}

}  // namespace meridian::fleet
