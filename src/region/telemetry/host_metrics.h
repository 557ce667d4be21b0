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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "region/telemetry/telemetry.h"
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

struct GpuSample {
  int index = 0;
  std::optional<double> utilization, memory;  // percent; nothing for "[N/A]"
};

// The output of
//   nvidia-smi --query-gpu=index,utilization.gpu,memory.used,memory.total --format=csv
// with or without header and units. A line that is something else is an error.
base::Result<std::vector<GpuSample>> parse_gpu_csv(std::string_view csv);

// GPUUtilization and GPUMemoryUtilization of a host: the sum over its devices, as CloudWatch does
// (0..100 per GPU). Only devices in `devices` count.
struct GpuFigures {
  std::optional<double> utilization, memory;
};
GpuFigures sum_gpus(const std::vector<GpuSample>& samples, const std::vector<int>& devices);

// This machine: memory, and the disk that holds `directory`.
HostCapacity machine_capacity(double cpus, const std::filesystem::path& directory);

// Writes what sample_host finds. `host` is algo-N.
void put_host_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                      const run::Usage& before, const run::Usage& after, double seconds,
                      double cpus);
void put_gpu_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                     const GpuFigures& figures);

}  // namespace meridian::region::telemetry
