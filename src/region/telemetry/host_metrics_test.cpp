// SPDX-License-Identifier: Apache-2.0
#include "region/telemetry/host_metrics.h"

#include <gtest/gtest.h>

namespace meridian::region::telemetry {
namespace {

constexpr std::uint64_t gib = 1u << 30;

TEST(HostMetrics, CpuIsHundredPerCore) {
  const run::Usage before{.cpu_seconds = 10}, after{.cpu_seconds = 100};
  EXPECT_EQ(sample_host(before, after, 60, {.cpus = 4}).cpu, 150);
  EXPECT_EQ(sample_host(before, after, 60, {.cpus = 1}).cpu, 100);
  EXPECT_EQ(sample_host(before, after, 60, {}).cpu, 150);
}

TEST(HostMetrics, TheInstancesOwnLimitIsTheWhole) {
  const run::Usage after{.memory_bytes = gib, .memory_limit_bytes = 4 * gib, .disk_bytes = gib};
  const HostSample sample =
      sample_host({}, after, 60, {.memory_bytes = 16 * gib, .disk_bytes = 10 * gib});
  EXPECT_EQ(sample.memory, 25);
  EXPECT_EQ(sample.disk, 10);
  const run::Usage unlimited{.memory_bytes = gib};
  EXPECT_EQ(sample_host({}, unlimited, 60, {.memory_bytes = 16 * gib}).memory, 6.25);
}

TEST(HostMetrics, WhatCannotBeKnownIsLeftOut) {
  const run::Usage before{.cpu_seconds = 10}, after{.cpu_seconds = 5};
  EXPECT_EQ(sample_host(before, after, 60, {}).cpu, std::nullopt);
  EXPECT_EQ(sample_host(after, before, 0, {}).cpu, std::nullopt);
  EXPECT_EQ(sample_host(after, before, 60, {}).memory, std::nullopt);
  EXPECT_EQ(sample_host(after, before, 60, {}).disk, std::nullopt);
}

TEST(HostMetrics, OnlyAssignedGpusCount) {
  const std::vector<run::GpuSample> samples = {{0, 50, 10}, {1, 70, 20}, {2, std::nullopt, 30}};
  const auto figures = sum_gpus(samples, {1, 2});
  EXPECT_EQ(figures.utilization, 70);
  EXPECT_EQ(figures.memory, 50);
  EXPECT_EQ(sum_gpus(samples, {}).utilization, std::nullopt);
}

TEST(HostMetrics, TheMachineHasMemoryAndADisk) {
  const HostCapacity machine = machine_capacity(2, "/");
  EXPECT_GT(machine.memory_bytes, 0u);
  EXPECT_GT(machine.disk_bytes, 0u);
  EXPECT_EQ(machine_capacity(2, "/no/such/directory").disk_bytes, 0u);
}

}  // namespace
}  // namespace meridian::region::telemetry
