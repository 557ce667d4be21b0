// SPDX-License-Identifier: Apache-2.0
#include "region/training/core.h"

#include <cstdio>
#include <set>

#include "base/file.h"
#include "base/strings.h"

namespace meridian::region::training {

Core::Core(const Parts& the_parts, Settings the_settings)
    : parts(the_parts), settings(std::move(the_settings)), records(parts.store, prefix()) {
  if (settings.boot_id.empty())
    settings.boot_id = base::trim(base::read_file_if_exists("/proc/sys/kernel/random/boot_id", 64));
}

std::string Core::arn(const std::string& job) const {
  return "arn:aws:sagemaker:" + settings.region + ":" + settings.account + ":training-job/" + job;
}

std::filesystem::path Core::directory(const JobRecord& record) const {
  return settings.directory / "jobs" / (record.name + "." + record.uid);
}

std::filesystem::path Core::attempt_directory(const JobRecord& record) const {
  return directory(record) / std::to_string(record.attempt);
}

std::filesystem::path Core::instance_directory(const JobRecord& record,
                                               const std::string& host) const {
  return attempt_directory(record) / host;
}

std::string Core::gang_id(const JobRecord& record) const {
  return settings.region + "/" + record.name + "." + record.uid + "/" +
         std::to_string(record.attempt);
}

std::string Core::instance_id(const JobRecord& record, const std::string& host) const {
  return gang_id(record) + "/" + host;
}

capacity::Pool Core::pool_for(const std::string& type) const {
  const capacity::Pool* pool = parts.capacity.find_pool(type);
  return pool ? *pool : capacity::Pool{};
}

void Core::wake_waiting() {
  constexpr std::string_view kPrefix = "training/";
  for (const std::string& owner : parts.capacity.ready_owners())
    if (owner.starts_with(kPrefix)) parts.runner.add(step_key(owner.substr(kPrefix.size())));
}

Timings live_timings(const JobRecord& record, const Core& core) {
  Timings timings = record.timings;
  accumulate(timings, record.phase, record.started.has_value(), core.parts.clock.ticks(),
             core.settings.boot_id);
  return timings;
}

Cost cost_of(const JobRecord& record, const JobSpec& spec, const Core& core) {
  double per_hour = 0;
  std::set<std::string> sources, unknown;
  for (const auto& [type, count] : spec.instances_by_type()) {
    const capacity::Pool* pool = core.parts.capacity.find_pool(type);
    auto list = capacity::find_list_price(type, core.settings.region);
    if (pool && pool->price_per_hour) {
      per_hour += *pool->price_per_hour * count;
      sources.insert("pools." + pool->name + ".price_per_hour");
    } else if (list) {
      per_hour += (spec.spot ? list->spot : list->on_demand) * count;
      sources.insert(list->source);
    } else {
      unknown.insert(type);
    }
  }
  auto joined = [](const std::set<std::string>& names) {
    return base::join({names.begin(), names.end()}, ", ");
  };
  if (!unknown.empty()) return {std::nullopt, "no price for " + joined(unknown)};
  double usd = per_hour * static_cast<double>(live_timings(record, core).billable_ms) / 3.6e6;
  char amount[32];
  std::snprintf(amount, sizeof amount, "$%.4f", usd);
  return {usd, "list-price equivalent " + std::string(amount) + " (" + joined(sources) + ")"};
}

}  // namespace meridian::region::training
