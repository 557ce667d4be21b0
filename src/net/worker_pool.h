// Threads that serve connections, as many as are needed and no more.
//
// A job that blocks (a watch, a slow upload) keeps its thread; when jobs wait and no thread becomes
// free for a moment, another one starts, up to the limit. Threads without work end after a while.
// Starting more of them at once would make short jobs slower: they would only fight for the cores.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace meridian::net {

struct Connection;

class WorkerPool {
 public:
  using Job = Connection*;

  // `work` must not throw.
  WorkerPool(std::size_t max_threads, std::size_t max_waiting, std::function<void(Job)> work);
  ~WorkerPool();  // waits for running jobs; waiting ones are forgotten

  // Queues the jobs; those that found the queue full are returned.
  std::vector<Job> push(const std::vector<Job>& jobs);
  bool jobs_wait() const { return waiting_.load(std::memory_order_relaxed) > 0; }
  // Called about every millisecond while jobs wait: starts threads when those there are stuck.
  void relieve();
  std::size_t busy() const;  // threads with a job

 private:
  struct Waiting {
    Job job;
    std::chrono::steady_clock::time_point since;
  };
  using Threads = std::list<std::thread>;

  void start_thread();  // under the lock
  void run(Threads::iterator self);
  bool wait_for_job(std::unique_lock<std::mutex>& lock);

  const std::size_t max_threads_;
  const std::size_t max_waiting_;
  const std::size_t core_threads_;
  const std::function<void(Job)> work_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> queue_;
  std::atomic<std::size_t> waiting_ = 0;
  Threads threads_;
  Threads ended_;  // to be joined
  std::size_t idle_ = 0;
  std::size_t taken_since_relief_ = 0;
  bool stopping_ = false;
};

}  // namespace meridian::net
