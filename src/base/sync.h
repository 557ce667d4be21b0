// Data that can only be touched while its lock is held.
//
//   Sync<State> state;
//   state.lock()->count += 1;
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace meridian::base {

template <class T>
class Sync {
 public:
  class Guard {
   public:
    explicit Guard(const Sync& owner) : owner_(owner), lock_(owner.mutex_) {}
    T* operator->() { return &owner_.data_; }
    T& operator*() { return owner_.data_; }

    // Waits until `ready(data)` holds or `stop` is requested; says whether it holds.
    template <class Ready>
    bool wait(std::stop_token stop, Ready ready) {
      return owner_.changed_.wait(lock_, stop, [&] { return ready(owner_.data_); });
    }
    template <class Ready, class TimePoint>
    bool wait_until(std::stop_token stop, TimePoint deadline, Ready ready) {
      return owner_.changed_.wait_until(lock_, stop, deadline, [&] { return ready(owner_.data_); });
    }

   private:
    const Sync& owner_;
    std::unique_lock<std::mutex> lock_;
  };

  Sync() = default;
  explicit Sync(T data) : data_(std::move(data)) {}

  Guard lock() const { return Guard(*this); }
  void notify_all() const { changed_.notify_all(); }

 private:
  friend class Guard;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable T data_{};
};

}  // namespace meridian::base
