// SPDX-License-Identifier: Apache-2.0
#include "region/batch/core.h"

#include <algorithm>

namespace meridian::region::batch {

Core::Core(const Parts& the_parts, Settings the_settings)
    : parts(the_parts),
      settings(std::move(the_settings)),
      prefix(settings.account + "/" + settings.region + "/batch/") {}

std::string Core::arn(const std::string& type, const std::string& name) const {
  return "arn:aws:batch:" + settings.region + ":" + settings.account + ":" + type + "/" + name;
}

std::filesystem::path Core::attempt_directory(const std::string& job, const Run& run) const {
  return directory(job) / std::to_string(run.index) / std::to_string(run.attempt);
}

std::string Core::gang_id(const std::string& job, const Run& run) const {
  return settings.region + "/batch/" + job + "/" + std::to_string(run.index) + "/" +
         std::to_string(run.attempt);
}

std::vector<capacity::Pool> with_vcpus(std::vector<capacity::Pool> pools) {
  constexpr int kVcpus = 64;
  const auto serves = [](const capacity::Pool& pool) {
    return std::ranges::find(pool.types, kVcpu) != pool.types.end();
  };
  if (std::ranges::none_of(pools, serves))
    pools.push_back({.name = "batch", .types = {kVcpu}, .count = kVcpus});
  return pools;
}

}  // namespace meridian::region::batch
