// SPDX-License-Identifier: Apache-2.0
#include "s3/in_parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <vector>

namespace meridian::s3 {
namespace {

TEST(InParallel, EachItemIsWorkedOnOnce) {
  for (std::size_t threads : {1, 3, 100}) {
    std::vector<std::atomic<int>> seen(50);
    in_parallel(seen.size(), threads, [&](std::size_t i) { ++seen[i]; });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
  in_parallel(0, 3, [](std::size_t) { FAIL(); });
}

TEST(InParallel, SeveralItemsAreWorkedOnAtOnce) {
  std::latch together(3);  // hangs if they wait for each other's end
  in_parallel(3, 3, [&](std::size_t) { together.arrive_and_wait(); });
}

TEST(InParallel, TheFirstExceptionEndsItAndComesOut) {
  std::atomic<std::size_t> begun{0};
  EXPECT_THROW(in_parallel(1'000'000, 2,
                           [&](std::size_t) {
                             ++begun;
                             throw std::runtime_error("no");
                           }),
               std::runtime_error);
  EXPECT_LE(begun, 2u);
}

}  // namespace
}  // namespace meridian::s3
