// SPDX-License-Identifier: Apache-2.0
#include "control/queue.h"

#include <algorithm>

#include "base/error.h"

namespace meridian::control {

base::Duration Backoff::after(int failures) const {
  base::Duration delay = first;
  for (int i = 1; i < failures && delay < most; ++i) delay *= 2;
  return std::min(delay, most);
}

WorkQueue::WorkQueue(const base::Clock& clock, Backoff backoff)
    : clock_(clock), backoff_(backoff) {}

void WorkQueue::schedule(State& state, const Key& key, base::Ticks at) {
  const auto [it, added] = state.waiting.try_emplace(key, at);
  if (!added) {
    if (it->second <= at) return;
    state.by_time.erase({it->second, key});
    it->second = at;
  }
  state.by_time.emplace(at, key);
}

void WorkQueue::add_after(const Key& key, base::Duration delay) {
  {
    auto state = state_.lock();
    const base::Ticks at = clock_.ticks() + std::max(delay, base::Duration(0));
    if (const auto it = state->taken.find(key); it != state->taken.end()) {
      it->second = it->second ? std::min(*it->second, at) : at;
      return;
    }
    schedule(*state, key, at);
  }
  state_.notify_all();
}

std::optional<Key> WorkQueue::try_take() {
  auto state = state_.lock();
  if (state->by_time.empty() || state->by_time.begin()->first > clock_.ticks()) {
    return std::nullopt;
  }
  Key key = state->by_time.begin()->second;
  state->by_time.erase(state->by_time.begin());
  state->waiting.erase(key);
  state->taken.emplace(key, std::nullopt);
  return key;
}

std::optional<Key> WorkQueue::wait_take(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (auto key = try_take()) return key;
    auto state = state_.lock();
    // A key added between try_take and this lock is seen here: the wait starts from the state.
    if (state->by_time.empty()) {
      state.wait(stop, [](const State& s) { return !s.by_time.empty(); });
      continue;
    }
    const base::Ticks next = state->by_time.begin()->first;
    const auto deadline = std::chrono::steady_clock::now() + (next - clock_.ticks());
    state.wait_until(stop, deadline, [next](const State& s) {
      return s.by_time.empty() || s.by_time.begin()->first < next;
    });
  }
  return std::nullopt;
}

void WorkQueue::finish(const Key& key, std::optional<base::Ticks> again) {
  {
    auto state = state_.lock();
    const auto it = state->taken.find(key);
    if (it == state->taken.end()) {
      throw base::Error(base::Code::internal, "a verdict on key '" + key + "', which nobody took");
    }
    if (it->second) again = again ? std::min(*again, *it->second) : *it->second;
    state->taken.erase(it);
    if (!again) return;
    schedule(*state, key, *again);
  }
  state_.notify_all();
}

void WorkQueue::succeeded(const Key& key) {
  state_.lock()->failures.erase(key);
  finish(key, std::nullopt);
}

void WorkQueue::again_in(const Key& key, base::Duration delay) {
  state_.lock()->failures.erase(key);
  finish(key, clock_.ticks() + std::max(delay, base::Duration(0)));
}

void WorkQueue::failed(const Key& key) {
  const int failures = ++state_.lock()->failures[key];
  finish(key, clock_.ticks() + backoff_.after(failures));
}

std::optional<base::Ticks> WorkQueue::next_due() const {
  auto state = state_.lock();
  if (state->by_time.empty()) return std::nullopt;
  return state->by_time.begin()->first;
}

std::size_t WorkQueue::size() const {
  auto state = state_.lock();
  return state->waiting.size() + state->taken.size();
}

}  // namespace meridian::control
