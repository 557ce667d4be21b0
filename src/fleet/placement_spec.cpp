// SPDX-License-Identifier: Apache-2.0
#include "fleet/placement_spec.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "base/strings.h"
#include "fleet/table.h"
#include "kube/object.h"

namespace meridian::fleet {
namespace {

using base::Json;

[[noreturn]] void refuse(std::string message) {
  throw base::Error(base::Code::invalid_argument, std::move(message));
}

template <class T>
T choose(const Json& spec, const std::string& field, const std::map<std::string, T>& words,
         T absent) {
  const Json* value = base::find(spec, field);
  if (value == nullptr) return absent;
  const auto found = words.find(text_of(*value));
  if (found != words.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, unused] : words) names.push_back(name);
  refuse(
      fmt::format("spec.{}: '{}' is none of {}", field, text_of(*value), base::join(names, ", ")));
}

// A number of 0 or more at the dotted path.
std::optional<double> amount(const Json& spec, const std::string& path) {
  const Json* value = base::find_path(spec, path);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const std::string text = text_of(*value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= 0))
    refuse(fmt::format("spec.{}: '{}' is not a number of 0 or more", path, text));
  return number;
}

// "90m", "48h", "2d"
std::optional<double> parse_hours(std::string_view text) {
  static const std::map<char, double> kUnits{
      {'s', 1 / 3'600.0}, {'m', 1 / 60.0}, {'h', 1}, {'d', 24}};
  if (text.empty()) return std::nullopt;
  const auto unit = kUnits.find(text.back());
  if (unit == kUnits.end()) return std::nullopt;
  double number = 0;
  const char* last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || !(number > 0)) return std::nullopt;
  return number * unit->second;
}

void parse_deadline(const Json& spec, PlacementSpec& out) {
  const std::string text = base::string_or(spec, "deadline");
  if (base::find(spec, "deadline") == nullptr) return;
  out.due_hours = parse_hours(text);
  if (!out.due_hours) out.due = kube::parse_time(text);
  if (!out.due_hours && !out.due)
    refuse(
        fmt::format("spec.deadline: '{}' is neither a time as 2026-12-24T08:00:00Z nor a "
                    "duration as 90m, 48h or 2d",
                    text));
}

void parse_checkpoints(const Json& spec, placement::Checkpoints& out) {
  const auto take = [&](const char* field, double& hours) {
    if (const auto seconds = amount(spec, fmt::format("checkpoints.{}", field)))
      hours = *seconds / 3'600;
  };
  take("everySeconds", out.every_hours);
  take("writeSeconds", out.write_hours);
  take("restartSeconds", out.restart_hours);
  if (out.every_hours <= 0) refuse("spec.checkpoints.everySeconds: above 0");
}

void parse_step(const Json& spec, PlacementSpec& out) {
  if (base::find(spec, "stepModel") == nullptr) return;
  placement::StepModel step;
  const auto take = [&](const char* field, double& value) {
    if (const auto given = amount(spec, fmt::format("stepModel.{}", field))) value = *given;
  };
  take("imagesPerSecond", step.images_per_second);
  take("batch", step.batch);
  take("gradientMegabytes", step.gradient_megabytes);
  take("latencySeconds", step.latency_seconds);
  take("megabytesPerSecond", step.megabytes_per_second);
  if (step.images_per_second <= 0 || step.batch <= 0 || step.megabytes_per_second <= 0)
    refuse("spec.stepModel: imagesPerSecond, batch and megabytesPerSecond are above 0");
  out.step = step;
}

}  // namespace

PlacementSpec parse_placement(const Json& spec) {
  using placement::Objective;
  using placement::SpotPolicy;
  PlacementSpec out;
  auto& settings = out.settings;
  settings.objective = choose<Objective>(spec, "placement",
                                         {{"pinned", Objective::pinned},
                                          {"data", Objective::data},
                                          {"cost", Objective::cost},
                                          {"time", Objective::time}},
                                         Objective::pinned);
  settings.spot = choose<SpotPolicy>(spec, "spot",
                                     {{"never", SpotPolicy::never},
                                      {"whenItPays", SpotPolicy::when_it_pays},
                                      {"deadline", SpotPolicy::deadline}},
                                     SpotPolicy::never);
  settings.soft_usd = amount(spec, "budget.soft");
  settings.hard_usd = amount(spec, "budget.hard");
  parse_deadline(spec, out);
  if (settings.spot == SpotPolicy::deadline && !out.due && !out.due_hours)
    refuse("spec.spot: 'deadline' needs a spec.deadline");
  if (const Json* regions = base::find(spec, "allowedRegions");
      regions != nullptr && regions->is_array())
    for (const Json& region : regions->get_array()) out.allowed_regions.push_back(text_of(region));
  out.reserve = static_cast<int>(amount(spec, "reserve").value_or(0));
  if (const Json* work = base::find(spec, "work")) out.work = *work;
  parse_checkpoints(spec, settings.checkpoints);
  parse_step(spec, out);
  return out;
}

}  // namespace meridian::fleet
