// SPDX-License-Identifier: Apache-2.0
#include "region/training/meter.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "region/telemetry/host_metrics.h"
#include "region/training/launch.h"
#include "region/training/layout.h"
#include "s3/tree.h"

namespace meridian::region::training {
namespace fs = std::filesystem;

Meter::Meter(Core& core, const JobRecord& record, const JobSpec& spec)
    : core_(core), job_(record.name) {
  if (spec.volume_gb) volume_bytes_ = static_cast<std::uint64_t>(*spec.volume_gb) << 30;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  auto state = state_.lock();
  const auto slots = spec.hosts();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const HostSlot& slot = slots[i];
    Host host{.name = slot.host,
              .id = core.instance_id(record, slot.host),
              .instance = core.instance_directory(record, slot.host),
              .gpus = gpus_of(record, spec, i)};
    host.cpus =
        capacity::cpu_share(core.pool_for(slot.type), slot.type, spec.instance_count(), cores);
    for (const Channel& channel : spec.channels)
      if (channel.s3 && channel.is_for(slot.group) && channel.mode != InputMode::pipe)
        host.channels.push_back(channel_directory(core.directory(record), channel, slot.host));
    state->hosts.push_back(std::move(host));
  }
}

void Meter::measure(Moment moment, std::stop_token stop) {
  auto state = state_.lock();
  const base::Ticks now = core_.parts.clock.ticks();
  const double seconds =
      state->measured ? static_cast<double>((now - *state->measured).count()) / 1000 : 0;
  state->measured = now;
  try {
    for (Host& host : state->hosts) measure_host(host, seconds, stop);
    if (moment == Moment::running) measure_gpus(state->hosts);
  } catch (const base::Error& error) {
    // Figures are no reason to fail a job.
    base::log_warn("measuring a job's hosts failed", {{"job", job_}, {"error", error.what()}});
  }
}

void Meter::measure_host(Host& host, double seconds, std::stop_token stop) {
  run::Usage usage = core_.parts.engine.usage(host.id);
  if (seconds > 0) {
    if (!host.channel_bytes) {
      host.channel_bytes = 0;
      for (const fs::path& channel : host.channels)
        *host.channel_bytes += measure_directory(channel, stop);
    }
    usage.disk_bytes = *host.channel_bytes + measure_directory(host.instance, stop);
    telemetry::HostCapacity capacity =
        telemetry::machine_capacity(host.cpus, core_.settings.directory);
    if (volume_bytes_ > 0) capacity.disk_bytes = volume_bytes_;
    telemetry::put_host_metrics(core_.parts.telemetry, job_, host.name,
                                telemetry::sample_host(host.before, usage, seconds, capacity));
  }
  host.before = usage;
}

void Meter::measure_gpus(const std::vector<Host>& hosts) {
  auto none = [](const Host& host) { return host.gpus.empty(); };
  if (std::ranges::all_of(hosts, none)) return;
  const auto samples = core_.parts.engine.sample_gpus();
  for (const Host& host : hosts)
    telemetry::put_gpu_metrics(core_.parts.telemetry, job_, host.name,
                               telemetry::sum_gpus(samples, host.gpus));
}

std::uint64_t measure_directory(const fs::path& directory, std::stop_token stop) {
  std::uint64_t bytes = 0;
  s3::walk_tree(directory, [&](const s3::TreeEntry& entry) {
    if (stop.stop_requested()) throw base::Error(base::Code::cancelled, "measuring was cancelled");
    bytes += static_cast<std::uint64_t>(entry.status.st_blocks) * 512;
  });
  return bytes;
}

}  // namespace meridian::region::training
