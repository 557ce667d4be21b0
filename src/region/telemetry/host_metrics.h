// What a host of a job uses, as CloudWatch shows it: every minute and at the end of short jobs.
//
// Namespace /aws/sagemaker/TrainingJobs, dimension Host = `<job>/algo-N`. CPUUtilization is 0..100
// per core, the others are 0..100 of the whole. A figure that cannot be known is left out.
//
// Pure functions, except machine_capacity and put_*; safe from any thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "region/telemetry/telemetry.h"
#include "run/gpu.h"
#include "run/instance.h"

namespace meridian::region::telemetry {

// What the host has; 0 = unknown.
struct HostCapacity {
  double cpus = 0;
  std::uint64_t memory_bytes = 0;  // used when the instance has no limit of its own
  std::uint64_t disk_bytes = 0;
};

struct HostSample {
  std::optional<double> cpu, memory, disk;  // percent
};

// Between two looks, `seconds` apart. CPU time that runs backwards (a restarted instance) gives no
// CPU figure.
HostSample sample_host(const run::Usage& before, const run::Usage& after, double seconds,
                       const HostCapacity& capacity);

// GPUUtilization and GPUMemoryUtilization of a host: the sum over its devices, as CloudWatch does
// (0..100 per GPU). Only devices in `devices` count.
struct GpuFigures {
  std::optional<double> utilization, memory;
};
GpuFigures sum_gpus(const std::vector<run::GpuSample>& samples, const std::vector<int>& devices);

// This machine: memory, and the disk that holds `directory`.
HostCapacity machine_capacity(double cpus, const std::filesystem::path& directory);

// `host` is algo-N.
void put_host_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                      const HostSample& sample);
void put_gpu_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                     const GpuFigures& figures);

}  // namespace meridian::region::telemetry
