// Runs steps: the one engine under every controller (design D4).
//
// A step reads state, decides by a pure function, acts, and returns what comes next. It never
// sleeps, waits or starts a thread; what takes time is an Activity that adds the key again when it
// ends.
//
// Production: ThreadRunner runs due keys on worker threads. Tests and simulation: VirtualRunner
// runs the same steps one at a time, in the order of virtual time. One key never runs twice at
// once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "control/queue.h"

namespace meridian::control {

// What a step says when it ends; throwing Error means: again after back-off.
struct Outcome {
  std::optional<base::Duration> again_in;
  static Outcome done() { return {}; }
  static Outcome again(base::Duration in) { return {in}; }
};

using Step = std::function<Outcome(const Key&)>;

// Where steps run. Controllers hold a reference and add keys.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void add(const Key& key) = 0;  // due now
  virtual void add_after(const Key& key, base::Duration delay) = 0;
};

// Steps are chosen by the key's part before the first '/': "training/…" goes to the step
// "training".
class StepTable {
 public:
  void add(std::string kind, Step step);
  Outcome run(const Key& key) const;

 private:
  std::map<std::string, Step, std::less<>> steps_;
};

class ThreadRunner final : public Runner {
 public:
  ThreadRunner(const base::Clock& clock, const StepTable& steps, std::size_t threads = 4);
  ~ThreadRunner() override;  // stops
  // Lets running steps end and runs no more; keys may still be added and then only wait.
  void stop();
  void add(const Key& key) override { queue_.add(key); }
  void add_after(const Key& key, base::Duration delay) override { queue_.add_after(key, delay); }

 private:
  void work(std::stop_token stop);
  const StepTable& steps_;
  WorkQueue queue_;
  std::vector<std::jthread> threads_;
};

class VirtualRunner final : public Runner {
 public:
  VirtualRunner(base::ManualClock& clock, const StepTable& steps);
  void add(const Key& key) override { queue_.add(key); }
  void add_after(const Key& key, base::Duration delay) override { queue_.add_after(key, delay); }

  // Runs every step due within `span` of virtual time, advancing the clock from one to the next.
  void run_for(base::Duration span);
  // Until nothing is due at the present instant. Error(internal) after `most` steps: a busy loop.
  void run_until_idle(std::size_t most = 100'000);

 private:
  base::ManualClock& clock_;
  const StepTable& steps_;
  WorkQueue queue_;
};

}  // namespace meridian::control
