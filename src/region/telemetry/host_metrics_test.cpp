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

TEST(HostMetrics, ReadsWhatNvidiaSmiPrints) {
  const auto gpus = parse_gpu_csv(
      "index, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n"
      "0, 45 %, 1024 MiB, 4096 MiB\r\n"
      "1, [N/A], 0 MiB, [N/A]\n\n");
  ASSERT_TRUE(gpus.ok());
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ((*gpus)[0].utilization, 45);
  EXPECT_EQ((*gpus)[0].memory, 25);
  EXPECT_EQ((*gpus)[1].utilization, std::nullopt);
  EXPECT_EQ((*gpus)[1].memory, std::nullopt);
}

TEST(HostMetrics, PlainNumbersAreReadToo) {
  const auto gpus = parse_gpu_csv("3, 7, 1, 2\n");
  ASSERT_TRUE(gpus.ok());
  EXPECT_EQ((*gpus)[0].index, 3);
  EXPECT_EQ((*gpus)[0].memory, 50);
}

TEST(HostMetrics, OtherTextIsAnErrorWithItsLine) {
  const auto gpus = parse_gpu_csv("0, 1, 1, 2\nNo devices were found\n");
  ASSERT_FALSE(gpus.ok());
  EXPECT_EQ(gpus.error().line, 2);
  EXPECT_FALSE(parse_gpu_csv("-1, 1, 1, 2").ok());
  EXPECT_FALSE(parse_gpu_csv("1,2,3").ok());
}

TEST(HostMetrics, OnlyAssignedGpusCount) {
  const std::vector<GpuSample> samples = {{0, 50, 10}, {1, 70, 20}, {2, std::nullopt, 30}};
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
