// SPDX-License-Identifier: Apache-2.0
#include "control/activity.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace meridian::control {
namespace {

using Phase = ActivityStatus::Phase;

// Notes the keys that are added; a test waits for them.
class NotingRunner final : public Runner {
 public:
  void add(const Key& key) override {
    keys_.lock()->push_back(key);
    keys_.notify_all();
  }
  void add_after(const Key&, base::Duration) override { FAIL() << "activities never delay"; }
  void wait_for(std::size_t count) {
    keys_.lock().wait(std::stop_token(), [&](const auto& keys) { return keys.size() >= count; });
  }
  std::vector<Key> keys() const { return *keys_.lock(); }

 private:
  base::Sync<std::vector<Key>> keys_;
};

// Blocks the work that waits on it, until opened or until that work is asked to stop.
class Gate {
 public:
  void open() {
    *open_.lock() = true;
    open_.notify_all();
  }
  void wait(std::stop_token stop) {
    if (!open_.lock().wait(stop, [](bool open) { return open; })) {
      throw base::Error(base::Code::cancelled, "asked to stop");
    }
  }

 private:
  base::Sync<bool> open_;
};

class ThreadActivitiesTest : public testing::Test {
 protected:
  NotingRunner runner;
  Gate gate;
  std::atomic<int> runs = 0;
  Work gated() {
    return [this](std::stop_token stop) {
      ++runs;
      gate.wait(stop);
    };
  }
};

TEST_F(ThreadActivitiesTest, TheFirstAskStartsAndLaterAsksReport) {
  ThreadActivities activities(runner);
  EXPECT_FALSE(activities.find("stage"));
  EXPECT_EQ(activities.ensure("stage", "job/1", gated()).phase, Phase::running);
  EXPECT_EQ(activities.ensure("stage", "job/1", gated()).phase, Phase::running);
  gate.open();
  runner.wait_for(1);
  EXPECT_EQ(activities.ensure("stage", "job/1", gated()).phase, Phase::succeeded);
  EXPECT_EQ(runs, 1);
}

TEST_F(ThreadActivitiesTest, TheEndIsKnownBeforeTheKeyIsAdded) {
  ThreadActivities activities(runner);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "quick" + std::to_string(i);
    activities.ensure(name, "k", [](std::stop_token) {});
    runner.wait_for(i + 1);
    ASSERT_EQ(activities.find(name)->phase, Phase::succeeded);
  }
}

TEST_F(ThreadActivitiesTest, AnErrorIsReportedWithItsCode) {
  ThreadActivities activities(runner);
  activities.ensure("a", "k", [](std::stop_token) {
    throw base::Error(base::Code::not_found, "no such bucket 'b'");
  });
  activities.ensure("b", "k", [](std::stop_token) { throw std::runtime_error("defect"); });
  runner.wait_for(2);
  const auto a = activities.find("a");
  EXPECT_EQ(a->phase, Phase::failed);
  EXPECT_EQ(a->error->code(), base::Code::not_found);
  EXPECT_EQ(activities.find("b")->error->code(), base::Code::internal);
}

TEST_F(ThreadActivitiesTest, CancelStopsWorkAndTheEndStillArrives) {
  ThreadActivities activities(runner);
  activities.ensure("a", "k", gated());
  while (runs == 0) std::this_thread::yield();
  activities.cancel("a");
  runner.wait_for(1);
  EXPECT_EQ(activities.find("a")->error->code(), base::Code::cancelled);
}

TEST_F(ThreadActivitiesTest, CancelOfWorkThatStillWaitsEndsItUnstarted) {
  ThreadActivities activities(runner, 1);
  activities.ensure("first", "k/1", gated());
  activities.ensure("second", "k/2", gated());
  activities.cancel("second");
  EXPECT_EQ(runner.keys(), std::vector<Key>{"k/2"});
  EXPECT_EQ(activities.find("second")->error->code(), base::Code::cancelled);
  gate.open();
  runner.wait_for(2);
  EXPECT_EQ(runs, 1);
}

TEST_F(ThreadActivitiesTest, AtMostSoManyRunAtOnceAndOthersWaitInOrder) {
  ThreadActivities activities(runner, 2);
  std::atomic<int> inside = 0, most = 0;
  for (int i = 0; i < 12; ++i) {
    activities.ensure(std::to_string(i), std::to_string(i), [&](std::stop_token) {
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --inside;
    });
  }
  runner.wait_for(12);
  EXPECT_LE(most, 2);

  ThreadActivities one(runner, 1);
  for (const char* name : {"x", "y", "z"}) one.ensure(name, name, [](std::stop_token) {});
  runner.wait_for(15);
  const auto keys = runner.keys();
  EXPECT_EQ(std::vector<Key>(keys.begin() + 12, keys.end()), (std::vector<Key>{"x", "y", "z"}));
}

TEST_F(ThreadActivitiesTest, AForgottenOneStartsAnew) {
  ThreadActivities activities(runner);
  gate.open();
  activities.ensure("a", "k", gated());
  runner.wait_for(1);
  activities.forget("a");
  EXPECT_FALSE(activities.find("a"));
  activities.ensure("a", "k", gated());
  runner.wait_for(2);
  EXPECT_EQ(runs, 2);
}

TEST_F(ThreadActivitiesTest, TwoOfOneNameNeverRunAtOnce) {
  ThreadActivities activities(runner);
  Gate stubborn;  // this work does not heed its stop token
  std::atomic<int> inside = 0, most = 0, done = 0;
  const Work work = [&](std::stop_token) {
    if (++inside > most) most = inside.load();
    stubborn.wait(std::stop_token());
    --inside;
    ++done;
  };
  activities.ensure("a", "old", work);
  while (inside == 0) std::this_thread::yield();
  activities.forget("a");
  EXPECT_FALSE(activities.find("a"));
  EXPECT_EQ(activities.ensure("a", "new", work).phase, Phase::running);
  EXPECT_EQ(activities.find("a")->phase, Phase::running);
  stubborn.open();
  runner.wait_for(2);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(runner.keys(), (std::vector<Key>{"old", "new"}));
}

TEST_F(ThreadActivitiesTest, TheDestructorStopsAllAndStartsNoMore) {
  {
    ThreadActivities activities(runner, 1);
    activities.ensure("running", "k/1", gated());
    activities.ensure("waiting", "k/2", gated());
    while (runs == 0) std::this_thread::yield();
  }
  EXPECT_EQ(runs, 1);
}

TEST_F(ThreadActivitiesTest, WorkMayAskForAnotherActivity) {
  ThreadActivities activities(runner, 1);
  activities.ensure("outer", "k/1", [&](std::stop_token) {
    activities.ensure("inner", "k/2", [&](std::stop_token) { ++runs; });
  });
  runner.wait_for(2);
  EXPECT_EQ(runs, 1);
}

TEST(InlineActivities, RunInsideEnsureAndAddTheKey) {
  base::ManualClock clock;
  StepTable steps;
  VirtualRunner runner(clock, steps);
  InlineActivities activities(runner);
  int turns = 0, runs = 0;
  std::vector<Phase> seen;
  steps.add("job", [&](const Key& key) {
    ++turns;
    seen.push_back(activities.ensure("stage", key, [&](std::stop_token) { ++runs; }).phase);
    return Outcome::done();
  });
  runner.add("job/1");
  runner.run_until_idle();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(turns, 2);
  EXPECT_EQ(seen, (std::vector<Phase>{Phase::succeeded, Phase::succeeded}));
  activities.forget("stage");
  EXPECT_FALSE(activities.find("stage"));
}

TEST(InlineActivities, ReportErrors) {
  base::ManualClock clock;
  StepTable steps;
  VirtualRunner runner(clock, steps);
  InlineActivities activities(runner);
  const auto status = activities.ensure(
      "a", "k", [](std::stop_token) { throw base::Error(base::Code::data_loss, "bad bytes"); });
  EXPECT_EQ(status.phase, Phase::failed);
  EXPECT_EQ(status.error->code(), base::Code::data_loss);
}

}  // namespace
}  // namespace meridian::control
