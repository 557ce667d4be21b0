// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/host_metrics.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

namespace meridian::region::telemetry {
namespace {

constexpr const char* name_space = "/aws/sagemaker/TrainingJobs";

std::optional<double> percent(double part, double whole) {
  if (!(whole > 0)) return std::nullopt;
  return std::clamp(part / whole * 100, 0.0, 100.0);
}

void add(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

void put(Telemetry& telemetry, const std::string& job, const std::string& host,
         const std::string& metric, const std::optional<double>& value) {
  if (value) telemetry.put_percent(name_space, metric, {{"Host", job + "/" + host}}, *value);
}

}  // namespace

HostSample sample_host(const run::Usage& before, const run::Usage& after, double seconds,
                       const HostCapacity& capacity) {
  HostSample out;
  const double cpu = after.cpu_seconds - before.cpu_seconds;
  if (seconds > 0 && cpu >= 0) {
    out.cpu = cpu / seconds * 100;
    if (capacity.cpus > 0) out.cpu = std::min(*out.cpu, capacity.cpus * 100);
  }
  const std::uint64_t memory =
      after.memory_limit_bytes > 0 ? after.memory_limit_bytes : capacity.memory_bytes;
  out.memory = percent(static_cast<double>(after.memory_bytes), static_cast<double>(memory));
  out.disk =
      percent(static_cast<double>(after.disk_bytes), static_cast<double>(capacity.disk_bytes));
  return out;
}

GpuFigures sum_gpus(const std::vector<run::GpuSample>& samples, const std::vector<int>& devices) {
  GpuFigures out;
  for (const auto& sample : samples) {
    if (std::find(devices.begin(), devices.end(), sample.index) == devices.end()) continue;
    add(out.utilization, sample.utilization);
    add(out.memory, sample.memory);
  }
  return out;
}

HostCapacity machine_capacity(double cpus, const std::filesystem::path& directory) {
  HostCapacity out{.cpus = cpus};
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) out.memory_bytes = static_cast<std::uint64_t>(pages) * page;
  struct statvfs disk{};
  if (::statvfs(directory.c_str(), &disk) == 0)
    out.disk_bytes = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  return out;
}

void put_host_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                      const HostSample& sample) {
  put(telemetry, job, host, "CPUUtilization", sample.cpu);
  put(telemetry, job, host, "MemoryUtilization", sample.memory);
  put(telemetry, job, host, "DiskUtilization", sample.disk);
}

void put_gpu_metrics(Telemetry& telemetry, const std::string& job, const std::string& host,
                     const GpuFigures& figures) {
  put(telemetry, job, host, "GPUUtilization", figures.utilization);
  put(telemetry, job, host, "GPUMemoryUtilization", figures.memory);
}

}  // namespace meridian::region::telemetry
