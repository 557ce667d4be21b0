// Work that takes time (staging, uploads), kept out of steps.
//
// A step asks for an activity by name; the first ask starts it, later asks report on it; its end
// adds the key again. Activities are idempotent and not durable: after a restart the step asks
// again and the work starts over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/sync.h"
#include "control/runner.h"

namespace meridian::control {

struct ActivityStatus {
  enum class Phase { running, succeeded, failed } phase = Phase::running;
  std::optional<base::Error> error;  // when failed
};

using Work = std::function<void(std::stop_token)>;

class Activities {
 public:
  virtual ~Activities() = default;
  // Starts `work` under `name` unless it is known already, and says how it stands. When it ends,
  // `key` is added to the runner given at construction.
  virtual ActivityStatus ensure(const std::string& name, const Key& key, Work work) = 0;
  virtual std::optional<ActivityStatus> find(const std::string& name) const = 0;
  virtual void cancel(const std::string& name) = 0;  // requests stop; the end still arrives
  // A later ensure starts anew. One that runs is asked to stop, and the new one waits for its end:
  // two of one name never run at once.
  virtual void forget(const std::string& name) = 0;
};

// Each activity on a thread of its own, at most `at_once`; others wait in order.
class ThreadActivities final : public Activities {
 public:
  explicit ThreadActivities(Runner& runner, std::size_t at_once = 32);
  ~ThreadActivities() override;  // requests stop of all, joins
  ActivityStatus ensure(const std::string& name, const Key& key, Work work) override;
  std::optional<ActivityStatus> find(const std::string& name) const override;
  void cancel(const std::string& name) override;
  void forget(const std::string& name) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Runs each activity at once, inside ensure(): for tests under virtual time.
class InlineActivities final : public Activities {
 public:
  explicit InlineActivities(Runner& runner) : runner_(runner) {}
  ActivityStatus ensure(const std::string& name, const Key& key, Work work) override;
  std::optional<ActivityStatus> find(const std::string& name) const override;
  void cancel(const std::string&) override {}
  void forget(const std::string& name) override { known_.erase(name); }

 private:
  Runner& runner_;
  std::map<std::string, ActivityStatus> known_;
};

}  // namespace meridian::control
