// SPDX-License-Identifier: Apache-2.0
#include "control/runner.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace meridian::control {
namespace {

// One turn of a key: the step, then the verdict. The named place that catches what a step throws.
void take_turn(const StepTable& steps, WorkQueue& queue, const Key& key) {
  try {
    const Outcome outcome = steps.run(key);
    if (outcome.again_in) {
      queue.again_in(key, *outcome.again_in);
    } else {
      queue.succeeded(key);
    }
  } catch (const base::Error& error) {
    base::log_warn("step failed", {{"key", key}, {"error", error.what()}});
    queue.failed(key);
  } catch (const std::exception& error) {
    base::log_error("step failed unexpectedly", {{"key", key}, {"error", error.what()}});
    queue.failed(key);
  }
}

}  // namespace

void StepTable::add(std::string kind, Step step) {
  if (!steps_.try_emplace(kind, std::move(step)).second) {
    throw base::Error(base::Code::internal, "there are two steps for '" + kind + "'");
  }
}

Outcome StepTable::run(const Key& key) const {
  const auto it = steps_.find(std::string_view(key).substr(0, key.find('/')));
  if (it == steps_.end()) {
    throw base::Error(base::Code::internal, "no step is registered for key '" + key + "'");
  }
  return it->second(key);
}

ThreadRunner::ThreadRunner(const base::Clock& clock, const StepTable& steps, std::size_t threads)
    : steps_(steps), queue_(clock) {
  for (std::size_t i = 0; i < std::max<std::size_t>(1, threads); ++i) {
    threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  }
}

ThreadRunner::~ThreadRunner() { stop(); }

void ThreadRunner::stop() {
  // All are told first, so that the slowest step alone decides how long this takes.
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void ThreadRunner::work(std::stop_token stop) {
  while (const auto key = queue_.wait_take(stop)) take_turn(steps_, queue_, *key);
}

VirtualRunner::VirtualRunner(base::ManualClock& clock, const StepTable& steps)
    : clock_(clock), steps_(steps), queue_(clock) {}

void VirtualRunner::run_until_idle(std::size_t most) {
  for (std::size_t steps = 0; const auto key = queue_.try_take(); ++steps) {
    if (steps >= most) {
      queue_.again_in(*key, base::Duration(0));
      throw base::Error(base::Code::internal, "after " + std::to_string(most) +
                                                  " steps at one instant key '" + *key +
                                                  "' is still due: a busy loop");
    }
    take_turn(steps_, queue_, *key);
  }
}

void VirtualRunner::run_for(base::Duration span) {
  const base::Ticks end = clock_.ticks() + span;
  run_until_idle();
  for (auto next = queue_.next_due(); next && *next <= end; next = queue_.next_due()) {
    if (*next > clock_.ticks()) clock_.advance(*next - clock_.ticks());
    run_until_idle();
  }
  clock_.advance(end - clock_.ticks());
}

}  // namespace meridian::control
