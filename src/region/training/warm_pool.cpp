// Warm instances (contract §3.9): after completion the gang's lease is kept for
// KeepAlivePeriodInSeconds; a job that is like it takes the lease over and need not wait.
//
//   Available ──1──► Reused        1 a job with the same key starts
//       └──2──► Terminated         2 the period is over, or the machine was restarted
//
// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"
#include "region/training/controller.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonObject;

// What two jobs must share: role, instances, volume, keys, network.
std::string warm_key_of(const JobRecord& record) {
  const Json request(record.request);
  JsonObject parts;
  for (const char* path :
       {"RoleArn", "ResourceConfig.InstanceType", "ResourceConfig.InstanceCount",
        "ResourceConfig.VolumeSizeInGB", "ResourceConfig.VolumeKmsKeyId", "VpcConfig",
        "EnableInterContainerTrafficEncryption", "EnableNetworkIsolation"})
    if (const Json* value = base::find_path(request, path)) parts[path] = *value;
  return base::sha256_hex(base::to_text(parts, base::JsonStyle::sorted));
}

// Seconds that the instances have been kept; nothing when that can't be told any more.
std::optional<std::int64_t> kept_seconds(const JobRecord& record, const Core& core) {
  std::int64_t elapsed = core.parts.clock.ticks().ms - record.timings.last_ticks;
  if (record.timings.boot_id != core.settings.boot_id || elapsed < 0) return std::nullopt;
  return elapsed / 1000;
}

}  // namespace

std::vector<store::Write> Controller::keep_warm(JobRecord& record, const JobSpec& spec) {
  if (record.cause != Cause::completed || spec.keep_alive_seconds <= 0) return {};
  auto writes =
      core_.parts.capacity.hand_over(Core::lease_owner(record.name), Core::warm_owner(record.name),
                                     base::Duration(spec.keep_alive_seconds * 1000));
  if (writes.empty()) return {};
  record.warm_key = warm_key_of(record);
  record.warm_pool = {{"Status", "Available"}, {"ResourceRetainedBillableTimeInSeconds", 0}};
  return writes;
}

void Controller::take_warm(const JobRecord& record, const JobSpec& spec) {
  if (spec.spot || spec.heterogeneous || spec.keep_alive_seconds <= 0) return;
  for (JobRecord& former : core_.records.warm_pools(warm_key_of(record))) {
    auto writes = core_.parts.capacity.hand_over(Core::warm_owner(former.name),
                                                 Core::lease_owner(record.name),
                                                 base::Duration(spec.bounds.max_runtime_ms));
    if (writes.empty()) continue;
    former.warm_pool = {
        {"Status", "Reused"},
        {"ReusedByJob", record.name},
        {"ResourceRetainedBillableTimeInSeconds", kept_seconds(former, core_).value_or(0)}};
    former.modified = core_.parts.clock.now();
    // A lost race leaves the instances to whoever won it.
    if (core_.records.save(former, std::move(writes))) return;
  }
}

control::Outcome Controller::watch_warm(JobRecord& record) {
  const std::int64_t period = read_spec(record.request).keep_alive_seconds;
  auto kept = kept_seconds(record, core_);
  if (kept && *kept < period)
    return control::Outcome::again(base::Duration((period - *kept) * 1000));
  record.warm_pool = {{"Status", "Terminated"},
                      {"ResourceRetainedBillableTimeInSeconds", kept.value_or(period)}};
  record.modified = core_.parts.clock.now();
  if (!core_.records.save(record, {core_.parts.capacity.release(Core::warm_owner(record.name))}))
    return control::Outcome::again(base::Duration(0));
  core_.wake_waiting();
  return control::Outcome::done();
}

}  // namespace meridian::region::training
