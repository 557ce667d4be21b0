// SPDX-License-Identifier: Apache-2.0
#include "control/runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>

#include "base/error.h"
#include "base/log.h"

namespace meridian::control {
namespace {

using std::chrono::milliseconds;

class VirtualRunnerTest : public testing::Test {
 protected:
  void SetUp() override { base::set_log_level(base::LogLevel::error); }
  void TearDown() override { base::set_log_level(base::LogLevel::info); }

  // Registers a step that notes "<ms since start> <key>" and then does `next`.
  void step(const std::string& kind, Step next) {
    steps.add(kind, [this, next](const Key& key) {
      history.push_back(std::to_string(clock.ticks().ms - start.ms) + " " + key);
      return next(key);
    });
  }

  base::ManualClock clock;
  base::Ticks start = clock.ticks();
  StepTable steps;
  VirtualRunner runner{clock, steps};
  std::vector<std::string> history;
};

using History = std::vector<std::string>;

TEST_F(VirtualRunnerTest, TheStepIsChosenByTheFirstPartOfTheKey) {
  step("a", [](const Key&) { return Outcome::done(); });
  step("b", [](const Key&) { return Outcome::done(); });
  runner.add("b/1/2");
  runner.add("a");
  runner.run_until_idle();
  EXPECT_EQ(history, (History{"0 a", "0 b/1/2"}));
}

TEST_F(VirtualRunnerTest, StepsRunAtTheirTimesAndTheClockEndsAtTheSpan) {
  step("a", [](const Key&) { return Outcome::again(milliseconds(30)); });
  step("b", [](const Key&) { return Outcome::done(); });
  runner.add("a/1");
  runner.add_after("b/1", milliseconds(45));
  runner.run_for(milliseconds(70));
  EXPECT_EQ(history, (History{"0 a/1", "30 a/1", "45 b/1", "60 a/1"}));
  EXPECT_EQ(clock.ticks() - start, milliseconds(70));
}

TEST_F(VirtualRunnerTest, AStepDueAtTheEndOfTheSpanStillRuns) {
  step("a", [](const Key&) { return Outcome::done(); });
  runner.add_after("a", milliseconds(70));
  runner.run_for(milliseconds(70));
  EXPECT_EQ(history, (History{"70 a"}));
}

TEST_F(VirtualRunnerTest, AStepThatThrowsComesBackAfterBackOff) {
  step("a", [this](const Key&) -> Outcome {
    if (history.size() < 3) throw base::Error(base::Code::unavailable, "not yet");
    return Outcome::done();
  });
  runner.add("a");
  runner.run_for(milliseconds(10'000));
  EXPECT_EQ(history, (History{"0 a", "200 a", "600 a"}));
}

TEST_F(VirtualRunnerTest, AStepThatThrowsSomethingElseComesBackToo) {
  step("a", [this](const Key&) -> Outcome {
    if (history.size() == 1) throw std::out_of_range("a defect");
    return Outcome::done();
  });
  runner.add("a");
  runner.run_for(milliseconds(1000));
  EXPECT_EQ(history, (History{"0 a", "200 a"}));
}

TEST_F(VirtualRunnerTest, AKeyThatAStepAddsForItselfRunsOnceMore) {
  step("a", [this](const Key& key) {
    if (history.size() == 1) {
      runner.add(key);
      runner.add(key);
    }
    return Outcome::done();
  });
  runner.add("a");
  runner.run_until_idle();
  EXPECT_EQ(history, (History{"0 a", "0 a"}));
}

TEST_F(VirtualRunnerTest, ABusyLoopIsReportedWithItsKey) {
  step("a", [](const Key&) { return Outcome::again(milliseconds(0)); });
  runner.add("a/loop");
  try {
    runner.run_until_idle(50);
    FAIL() << "a busy loop ended";
  } catch (const base::Error& error) {
    EXPECT_NE(error.message().find("a/loop"), std::string::npos);
  }
  EXPECT_EQ(history.size(), 50u);
}

TEST_F(VirtualRunnerTest, TheSameStepsGiveTheSameHistory) {
  const auto run = [](std::vector<std::string>& out) {
    base::ManualClock clock;
    StepTable steps;
    VirtualRunner runner(clock, steps);
    steps.add("a", [&](const Key& key) {
      out.push_back(key + std::to_string(clock.ticks().ms));
      if (key == "a/0") runner.add_after("a/" + std::to_string(out.size() % 5), milliseconds(7));
      return Outcome::again(milliseconds(11 + static_cast<int>(out.size() % 3)));
    });
    for (int i = 0; i < 5; ++i) runner.add("a/" + std::to_string(i));
    runner.run_for(milliseconds(500));
  };
  History first, second;
  run(first);
  run(second);
  EXPECT_GT(first.size(), 100u);
  EXPECT_EQ(first, second);
}

TEST(StepTable, AnUnknownKindAndASecondStepOfOneKindAreErrors) {
  StepTable steps;
  steps.add("a", [](const Key&) { return Outcome::done(); });
  EXPECT_THROW(steps.add("a", [](const Key&) { return Outcome::done(); }), base::Error);
  EXPECT_THROW(steps.run("b/1"), base::Error);
}

TEST(ThreadRunner, RunsKeysInParallelButEachKeyAlone) {
  base::SystemClock clock;
  StepTable steps;
  std::mutex mutex;
  std::map<Key, int> inside, runs;
  int overlaps = 0;
  steps.add("k", [&](const Key& key) {
    {
      std::lock_guard lock(mutex);
      if (++inside[key] > 1) ++overlaps;
      ++runs[key];
    }
    std::this_thread::yield();
    std::lock_guard lock(mutex);
    --inside[key];
    return runs[key] < 20 ? Outcome::again(milliseconds(0)) : Outcome::done();
  });
  {
    ThreadRunner runner(clock, steps, 4);
    for (int i = 0; i < 6; ++i) runner.add("k/" + std::to_string(i));
    const auto finished = [&] {
      std::lock_guard lock(mutex);
      if (runs.size() < 6) return false;
      for (const auto& [key, count] : runs) {
        if (count < 20) return false;
      }
      return true;
    };
    while (!finished()) {
      runner.add("k/0");
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(overlaps, 0);
}

TEST(ThreadRunner, StopsWhileKeysStillWait) {
  base::SystemClock clock;
  StepTable steps;
  std::atomic<int> runs = 0;
  steps.add("k", [&](const Key&) {
    ++runs;
    return Outcome::again(milliseconds(0));
  });
  {
    ThreadRunner runner(clock, steps, 2);
    runner.add("k/1");
    runner.add_after("k/never", std::chrono::hours(1));
    while (runs < 3) std::this_thread::yield();
  }
  const int after = runs;
  EXPECT_GE(after, 3);
}

}  // namespace
}  // namespace meridian::control
