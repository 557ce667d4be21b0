// SPDX-License-Identifier: Apache-2.0
#include "run/gpu.h"

#include <gtest/gtest.h>

namespace meridian::run {
namespace {

TEST(Gpus, AreReadFromTheInventory) {
  const auto gpus = parse_gpus(
      "0, GPU-4f1e, Tesla V100-SXM2-16GB, 16160\n1, GPU-77aa, Tesla V100-SXM2-16GB, 16160\n");
  ASSERT_TRUE(gpus.ok());
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ((*gpus)[1].index, 1);
  EXPECT_EQ((*gpus)[1].uuid, "GPU-77aa");
  EXPECT_EQ((*gpus)[0].name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ((*gpus)[0].memory_bytes, std::uint64_t{16160} << 20);
}

TEST(Gpus, NoneIsAnEmptyList) {
  EXPECT_TRUE(parse_gpus("")->empty());
  EXPECT_TRUE(parse_gpus("\n")->empty());
}

TEST(Gpus, OtherWordsAreRefusedWithTheirLine) {
  const auto gpus = parse_gpus("0, GPU-1, A, 1\nNVIDIA-SMI has failed\n");
  ASSERT_FALSE(gpus.ok());
  EXPECT_EQ(gpus.error().line, 2);
}

TEST(Gpus, SamplesGivePercentages) {
  const auto samples = parse_gpu_samples("0, 87, 4000, 16000\n1, [N/A], [N/A], 16000\n");
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ((*samples)[0].utilization, 87);
  EXPECT_EQ((*samples)[0].memory, 25);
  EXPECT_EQ((*samples)[1].utilization, std::nullopt);
  EXPECT_EQ((*samples)[1].memory, std::nullopt);
}

TEST(Gpus, ASampleOfSomethingElseIsAnErrorWithItsLine) {
  const auto samples = parse_gpu_samples("0, 1, 1, 2\nNo devices were found\n");
  ASSERT_FALSE(samples.ok());
  EXPECT_EQ(samples.error().line, 2);
  EXPECT_FALSE(parse_gpu_samples("-1, 1, 1, 2").ok());
  EXPECT_FALSE(parse_gpu_samples("1,2,3").ok());
}

TEST(Gpus, AnInstanceSeesItsOwnNumberedFromZero) {
  EXPECT_EQ(gpu_environment({2, 5}).at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(gpu_environment({2, 5}).at("NVIDIA_VISIBLE_DEVICES"), "2,5");
  EXPECT_EQ(gpu_environment({}).at("CUDA_VISIBLE_DEVICES"), "none");
}

}  // namespace
}  // namespace meridian::run
