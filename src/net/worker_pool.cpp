// SPDX-License-Identifier: Apache-2.0
#include "net/worker_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace meridian::net {
namespace {
using Time = std::chrono::steady_clock;
constexpr auto kStuckAfter = std::chrono::milliseconds(1);
constexpr auto kIdleThreadEndsAfter = std::chrono::seconds(10);
}  // namespace

WorkerPool::WorkerPool(std::size_t max_threads, std::size_t max_waiting,
                       std::function<void(Job)> work)
    : max_threads_(std::max<std::size_t>(max_threads, 1)),
      max_waiting_(max_waiting),
      core_threads_(
          std::min<std::size_t>(max_threads_, std::max(2u, std::thread::hardware_concurrency()))),
      work_(std::move(work)) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    waiting_ = 0;
  }
  changed_.notify_all();
  while (true) {
    // Threads move themselves to ended_ when they leave: take what is there, without the lock held.
    Threads some;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !ended_.empty() || threads_.empty(); });
      some.swap(ended_);
      if (some.empty()) return;
    }
    for (std::thread& thread : some) thread.join();
  }
}

std::vector<WorkerPool::Job> WorkerPool::push(const std::vector<Job>& jobs) {
  std::vector<Job> refused;
  std::size_t to_wake = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Time::now();
    for (const Job job : jobs) {
      if (queue_.size() >= max_waiting_ && idle_ == 0) {
        refused.push_back(job);
      } else {
        queue_.push_back({job, now});
      }
    }
    waiting_ = queue_.size();
    if (idle_ == 0 && threads_.size() < core_threads_) start_thread();
    to_wake = std::min(idle_, queue_.size());
  }
  for (; to_wake > 0; --to_wake) changed_.notify_one();
  return refused;
}

void WorkerPool::relieve() {
  Threads ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
    const std::size_t taken = std::exchange(taken_since_relief_, 0);
    if (!queue_.empty() && idle_ == 0 && Time::now() - queue_.front().since >= kStuckAfter) {
      // Nothing taken at all: every thread is in a long job. Otherwise one more is tried.
      const std::size_t wanted = taken == 0 ? queue_.size() : 1;
      for (std::size_t i = 0; i < wanted && threads_.size() < max_threads_; ++i) start_thread();
    }
  }
  for (std::thread& thread : ended) thread.join();
}

std::size_t WorkerPool::busy() const {
  const std::lock_guard lock(mutex_);
  return threads_.size() - idle_;
}

void WorkerPool::start_thread() {
  if (stopping_) return;
  threads_.emplace_back();
  const auto self = std::prev(threads_.end());
  try {
    *self = std::thread([this, self] { run(self); });
  } catch (const std::system_error&) {
    threads_.erase(self);  // no threads left on this machine: those there must do
  }
}

bool WorkerPool::wait_for_job(std::unique_lock<std::mutex>& lock) {
  while (queue_.empty() && !stopping_) {
    ++idle_;
    const auto status = changed_.wait_for(lock, kIdleThreadEndsAfter);
    --idle_;
    const bool spare = threads_.size() > core_threads_;
    if (status == std::cv_status::timeout && queue_.empty() && spare) return false;
  }
  return !stopping_;
}

void WorkerPool::run(Threads::iterator self) {
  pthread_setname_np(pthread_self(), "net-worker");
  // Writing to a peer that has left is an error to return, not a signal.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  std::unique_lock lock(mutex_);
  while (wait_for_job(lock)) {
    const Job job = queue_.front().job;
    queue_.pop_front();
    waiting_ = queue_.size();
    ++taken_since_relief_;
    lock.unlock();
    work_(job);
    lock.lock();
  }
  ended_.splice(ended_.end(), threads_, self);
  changed_.notify_all();
}

}  // namespace meridian::net
