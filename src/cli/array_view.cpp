// SPDX-License-Identifier: Apache-2.0
#include "cli/array_view.h"

#include <fmt/format.h>

#include <sstream>

#include "base/strings.h"
#include "cli/format.h"
#include "cli/output.h"

namespace meridian::cli {

using base::Json;

void ArrayView::resource(const Json& object) {
  const Json* status = base::find(object, "status");
  if (status == nullptr) return;
  // What stands there is of the run before until the controller has seen the new one.
  const Json* generation = base::find_path(object, "metadata.generation");
  const bool seen = generation == nullptr || base::int_or(*status, "observedGeneration", 0) >=
                                                 generation->to_number<std::int64_t>();
  const std::string phase = seen ? base::string_or(*status, "phase") : "";
  if (!phase.empty() && phase != phase_) news_.push_back(phase);
  phase_ = phase;
  const std::string waiting = base::string_or(*status, "waitingFor");
  if (!waiting.empty() && waiting != waiting_) news_.push_back("waiting: " + waiting);
  waiting_ = waiting;
  if (const Json* list = base::find(*status, "firstFailures");
      seen && list != nullptr && list->is_array()) {
    for (const Json& failure : list->get_array()) {
      const std::string key = base::string_or(failure, "job");
      const std::string reason = base::string_or(failure, "reason");
      if (failures_.emplace(key, reason).second)
        news_.push_back(fmt::format("{} in {} failed: {}", base::string_or(failure, "key"),
                                    base::string_or(failure, "region"), reason));
    }
  }
  if (const Json* conditions = base::find(*status, "conditions");
      seen && conditions && conditions->is_array()) {
    for (const Json& condition : conditions->get_array()) {
      if (base::string_or(condition, "reason") == "InvalidArray" &&
          base::string_or(condition, "status") == "True")
        refusal_ = base::string_or(condition, "message");
    }
  }
}

void ArrayView::rows(const Json& answer) {
  regions_.clear();
  const auto number = [](const Json& value) {
    return value.is_number() ? value.to_number<double>() : 0.0;
  };
  for (const Json& row : base::find(answer, "Rows")->as_array()) {
    const auto& values = row.as_array();
    Region& region = regions_[std::string(base::view(values[0].as_string()))];
    region.jobs[std::string(base::view(values[1].as_string()))] +=
        values[2].to_number<std::int64_t>();
    region.cost += number(values[3]);
    region.images_per_second += number(values[4]);
  }
}

bool ArrayView::ended() const { return !phase_.empty() && phase_ != "Running"; }

std::vector<std::string> ArrayView::news() { return std::exchange(news_, {}); }

std::vector<std::string> ArrayView::block() const {
  if (!refusal_.empty()) return {"Failed: " + refusal_};
  Table table(
      {"REGION", "PENDING", "RUNNING", "SUCCEEDED", "FAILED", "STOPPED", "COST", "IMAGES/S"});
  Region all;
  const auto add = [&table](const std::string& name, const Region& region) {
    const auto jobs = [&region](const char* state) {
      const auto found = region.jobs.find(state);
      return found == region.jobs.end() ? std::int64_t{0} : found->second;
    };
    table.add({name, fmt::format("{}", jobs("Pending")),
               fmt::format("{}", jobs("Launching") + jobs("Running")),
               fmt::format("{}", jobs("Succeeded")), fmt::format("{}", jobs("Failed")),
               fmt::format("{}", jobs("Stopped")),
               region.cost == 0 ? "-" : format_money(region.cost),
               region.images_per_second == 0 ? "-" : format_number(region.images_per_second)});
  };
  for (const auto& [name, region] : regions_) {
    add(name, region);
    for (const auto& [state, count] : region.jobs) all.jobs[state] += count;
    all.cost += region.cost;
    all.images_per_second += region.images_per_second;
  }
  if (regions_.size() > 1) add("together", all);
  std::ostringstream text;
  table.print(text);
  std::vector<std::string> lines = base::split(text.str(), '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace meridian::cli
