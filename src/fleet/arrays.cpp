// SPDX-License-Identifier: Apache-2.0
#include "fleet/arrays.h"

#include <map>

#include "fleet/database.h"
#include "kube/object.h"

namespace meridian::fleet {

using base::Json;
using base::JsonArray;
using base::JsonObject;

Arrays::Arrays(const ArrayParts& parts, ArraySettings settings, control::Runner& runner)
    : parts_(parts),
      settings_(settings),
      runner_(runner),
      controller_(parts, settings, [this](const kube::ObjectKey& key) {
        const kube::Cache* cache = ready_.load();
        return cache != nullptr ? cache->find(key) : std::nullopt;
      }) {}

Arrays::~Arrays() = default;

void Arrays::register_steps(control::StepTable& steps) {
  steps.add(std::string(ArrayController::kStep),
            [this](const control::Key& key) { return controller_.step(key); });
}

void Arrays::start() {
  const auto look = [this](const kube::ObjectKey& key) {
    runner_.add(std::string(ArrayController::kStep) + "/" + key.text());
  };
  cache_ = std::make_unique<kube::Cache>(parts_.api, array_resource(), "", look);
  ready_ = cache_.get();
  // Steps that ran before the cache could be asked saw nothing.
  for (const Json& object : cache_->list()) look(kube::key_of(object));
}

Json Arrays::preview(const Json& text, std::size_t shown) const {
  const ArraySpec spec = parse_array_spec(text);
  const Table rows = controller_.read_rows(spec);
  const auto plans = plan_rows(spec, rows, "preview");
  JsonArray columns, some;
  for (std::size_t i = 0; i < rows.columns.size(); ++i)
    columns.push_back(JsonObject{{"Name", rows.columns[i]}, {"Type", type_of_column(rows, i)}});
  std::map<std::string, std::int64_t> counts;
  for (const RowPlan& plan : plans)
    ++counts[plan.region.empty() ? "(placed by plan)" : plan.region];
  JsonObject regions;
  for (const auto& [region, count] : counts) regions[region] = count;
  for (std::size_t i = 0; i < std::min(shown, plans.size()); ++i)
    some.push_back(JsonObject{{"Key", plans[i].key},
                              {"Region", plans[i].region},
                              {"Columns", rows.row(i)},
                              {"Request", plans[i].request}});
  return {{"Columns", std::move(columns)},
          {"Rows", static_cast<std::int64_t>(rows.rows.size())},
          {"Regions", std::move(regions)},
          {"Shown", std::move(some)}};
}

JsonObject Arrays::plan(const Json& text, const std::string& ns, const std::string& name,
                        const std::vector<std::string>& why) const {
  const ArraySpec spec = parse_array_spec(text);
  const Table rows = controller_.read_rows(spec);
  const auto plans = plan_rows(spec, rows, "preview");
  const Grounds grounds =
      read_grounds(parts_.catalog.file(), parts_.pools ? parts_.pools() : RegionPools{}, ns, name,
                   parts_.clock.now());
  const placement::Problem problem = make_problem(spec, plans, rows, grounds);
  return describe_plan(problem, make_plan(problem), why);
}

Table Arrays::query(const std::string& sql) const {
  return fleet::query({.database = settings_.campaigns, .catalog = parts_.catalog.file()}, sql);
}

}  // namespace meridian::fleet
