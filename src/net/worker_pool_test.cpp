// SPDX-License-Identifier: Apache-2.0
#include "net/worker_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

namespace meridian::net {
namespace {

using namespace std::chrono_literals;

// The pool never looks at its jobs: any distinct pointers will do.
WorkerPool::Job job(std::uintptr_t number) { return reinterpret_cast<WorkerPool::Job>(number); }

// As the server's poller does.
template <class Condition>
bool relieve_until(WorkerPool& pool, Condition holds) {
  for (int i = 0; i < 5000; ++i) {
    if (holds()) return true;
    pool.relieve();
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(WorkerPool, RunsEveryJobOnce) {
  std::mutex mutex;
  std::multiset<WorkerPool::Job> seen;
  WorkerPool pool(4, 1000, [&](WorkerPool::Job one) {
    const std::lock_guard lock(mutex);
    seen.insert(one);
  });
  for (std::uintptr_t i = 1; i <= 500; i += 2) {
    EXPECT_TRUE(pool.push({job(i), job(i + 1)}).empty());
  }
  EXPECT_TRUE(relieve_until(pool, [&] {
    const std::lock_guard lock(mutex);
    return seen.size() == 500;
  }));
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 500u);
}

TEST(WorkerPool, GrowsWhileJobsBlockUpToItsLimit) {
  std::promise<void> go_on;
  const auto released = go_on.get_future().share();
  std::atomic<int> running = 0;
  WorkerPool pool(6, 1000, [&](WorkerPool::Job) {
    ++running;
    released.wait();
    --running;
  });
  std::vector<WorkerPool::Job> jobs;
  for (std::uintptr_t i = 1; i <= 8; ++i) jobs.push_back(job(i));
  EXPECT_TRUE(pool.push(jobs).empty());
  EXPECT_TRUE(relieve_until(pool, [&] { return running == 6; }));
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(2ms);
    pool.relieve();
  }
  EXPECT_EQ(running, 6);
  EXPECT_EQ(pool.busy(), 6u);
  EXPECT_TRUE(pool.jobs_wait());
  go_on.set_value();
  EXPECT_TRUE(relieve_until(pool, [&] { return pool.busy() == 0 && !pool.jobs_wait(); }));
}

TEST(WorkerPool, ReturnsWhatItCannotQueue) {
  std::promise<void> running;
  std::promise<void> go_on;
  WorkerPool pool(1, 2, [&](WorkerPool::Job one) {
    if (one != job(1)) return;
    running.set_value();
    go_on.get_future().wait();
  });
  EXPECT_TRUE(pool.push({job(1)}).empty());
  running.get_future().wait();
  EXPECT_EQ(pool.push({job(2), job(3), job(4), job(5)}), (std::vector{job(4), job(5)}));
  go_on.set_value();
}

TEST(WorkerPool, ForgetsWaitingJobsAtItsEnd) {
  std::atomic<int> ran = 0;
  std::promise<void> running;
  std::promise<void> go_on;
  std::thread releaser;
  {
    WorkerPool pool(1, 10, [&](WorkerPool::Job) {
      if (++ran > 1) return;
      running.set_value();
      go_on.get_future().wait();
    });
    pool.push({job(1), job(2), job(3)});
    running.get_future().wait();
    releaser = std::thread([&] {
      // The destructor forgets first and then waits for the running job.
      while (pool.jobs_wait()) std::this_thread::sleep_for(1ms);
      go_on.set_value();
    });
  }
  releaser.join();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace meridian::net
