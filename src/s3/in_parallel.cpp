// SPDX-License-Identifier: Apache-2.0
#include "s3/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace meridian::s3 {

void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::once_flag failed;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {  // a thread's end: rethrown below
      next = count;
      std::call_once(failed, [&] { failure = std::current_exception(); });
    }
  };
  if (std::min(count, threads) <= 1) {
    run();
  } else {
    std::vector<std::jthread> running;
    for (std::size_t i = 0; i < std::min(count, threads); ++i) running.emplace_back(run);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace meridian::s3
