// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/table.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "region/batch/jobs/shares.h"

namespace meridian::region::batch {
namespace {

constexpr base::Timestamp kNow{1000};

struct Jobs {
  Table table;
  std::int64_t arrivals = 0;

  Job& add(const std::string& id, std::uint32_t size, std::vector<Dependency> depends_on = {},
           int priority = 0, const std::string& share = "") {
    JobRecord record{.id = id, .queue = "q", .share = share, .priority = priority, .size = size};
    record.states = States(std::max(1u, size));
    record.created_revision = ++arrivals;
    JobSpec spec;
    spec.depends_on = std::move(depends_on);
    std::vector<std::shared_ptr<Job>> targets;
    for (const Dependency& each : spec.depends_on) targets.push_back(table.find(each.job));
    return table.add(std::move(record), std::move(spec), std::move(targets), kNow);
  }
  void end(Job& job, std::uint32_t index, Status status) {
    table.move(job, index, Status::starting, "", kNow);
    table.move(job, index, status, "", kNow);
  }
};

Dependency whole(const std::string& job) { return {Dependency::Kind::whole, job, {}}; }
Dependency n_to_n(const std::string& job) { return {Dependency::Kind::n_to_n, job, {}}; }
Dependency sequential() { return {Dependency::Kind::sequential, "", {}}; }

TEST(Table, AChildOfNToNWaitsForItsOwnNumberOnly) {
  Jobs jobs;
  Job& a = jobs.add("a", 3);
  Job& b = jobs.add("b", 3, {n_to_n("a")});
  EXPECT_EQ(b.record.states.text(), "P3");
  jobs.end(a, 1, Status::succeeded);
  EXPECT_EQ(b.record.states.text(), "P1 R1 P1");
  jobs.end(a, 2, Status::failed);
  EXPECT_EQ(b.record.states.text(), "P1 R1 F1");
  EXPECT_EQ(b.record.skip_reason(2), "Dependent Job failed (a, the same index)");
}

TEST(Table, ASequentialArrayRunsOneByOneAndItsFirstFailureFailsTheRest) {
  Jobs jobs;
  Job& a = jobs.add("a", 2'000, {sequential()});
  EXPECT_EQ(a.record.states.text(), "R1 P1999");
  jobs.end(a, 0, Status::succeeded);
  EXPECT_EQ(a.record.states.text(), "O1 R1 P1998");
  jobs.end(a, 1, Status::failed);
  EXPECT_EQ(a.record.states.text(), "O1 F1999");
  EXPECT_EQ(a.record.status(), Status::failed);
  EXPECT_EQ(a.record.skipped.size(), 2u) << "its own, and one range for all that follow";
}

TEST(Table, AFailureRunsDownAChain) {
  Jobs jobs;
  Job& a = jobs.add("a", 0);
  Job& b = jobs.add("b", 0, {whole("a")});
  Job& c = jobs.add("c", 0, {whole("b")});
  EXPECT_EQ(c.record.status(), Status::pending);
  jobs.end(a, 0, Status::failed);
  EXPECT_EQ(b.record.reason, "Dependent Job failed (a)");
  EXPECT_EQ(c.record.reason, "Dependent Job failed (b)");
}

TEST(Table, AWholeArrayIsWaitedFor) {
  Jobs jobs;
  Job& a = jobs.add("a", 2);
  Job& b = jobs.add("b", 0, {whole("a")});
  Job& c = jobs.add("c", 0, {{Dependency::Kind::whole, "a", 0}});
  jobs.end(a, 0, Status::succeeded);
  EXPECT_EQ(b.record.status(), Status::pending);
  EXPECT_EQ(c.record.status(), Status::runnable) << "it depends on that child only";
  jobs.end(a, 1, Status::succeeded);
  EXPECT_EQ(b.record.status(), Status::runnable);
}

TEST(Table, SequentialMixesWithAnotherJob) {
  Jobs jobs;
  Job& a = jobs.add("a", 0);
  Job& b = jobs.add("b", 3, {whole("a"), sequential()});
  EXPECT_EQ(b.record.states.text(), "P3");
  jobs.end(a, 0, Status::succeeded);
  EXPECT_EQ(b.record.states.text(), "R1 P2");
}

TEST(Table, PriorityThenArrivalWithinAShare) {
  Jobs jobs;
  jobs.add("a", 0, {}, 1, "red");
  jobs.add("b", 0, {}, 9, "red");
  jobs.add("c", 0, {}, 9);
  jobs.add("d", 0, {}, 99);
  EXPECT_EQ(jobs.table.ready("q").at("red").begin()->second->record.id, "b");
  EXPECT_EQ(jobs.table.ready("q").at("").begin()->second->record.id, "c")
      << "without a share, arrival alone";
}

// What must hold of every job at every moment.
void check(const Table& table) {
  for (const auto& [id, job] : table.jobs()) {
    const JobRecord& record = job->record;
    std::size_t sum = 0;
    for (std::size_t each = 0; each < kStatuses; ++each)
      sum += record.states.count(static_cast<Status>(each));
    ASSERT_EQ(sum, record.states.size());
    ASSERT_EQ(is_terminal(record.status()), record.states.all_ended());
    ASSERT_EQ(record.stopped.has_value(), record.states.all_ended());
    const auto& ready = table.ready("q").at("");
    const bool listed = std::any_of(ready.begin(), ready.end(),
                                    [&](const auto& e) { return e.second == job.get(); });
    ASSERT_EQ(listed, record.states.count(Status::runnable) > 0);
    for (std::uint32_t index = 0; index < record.states.size(); ++index) {
      const Status status = record.states.at(index);
      bool open = true, failed = false;
      for (std::size_t d = 0; d < job->spec.depends_on.size(); ++d) {
        const Dependency& dependency = job->spec.depends_on[d];
        Status of = Status::succeeded;
        if (dependency.kind == Dependency::Kind::sequential) {
          if (index > 0) of = record.states.at(index - 1);
        } else if (dependency.kind == Dependency::Kind::n_to_n) {
          of = job->targets[d]->record.states.at(index);
        } else {
          of = job->targets[d]->record.status();
        }
        open = open && of == Status::succeeded;
        failed = failed || of == Status::failed;
      }
      // A target may have failed after the child began only if it was open before: it can't.
      const bool was_open = status >= Status::runnable && status != Status::failed;
      ASSERT_TRUE(open || !was_open) << id << index;
      ASSERT_TRUE(!failed || status == Status::failed) << id << ":" << index;
      ASSERT_TRUE(!open || status >= Status::runnable) << id << ":" << index;
    }
  }
}

TEST(Table, StatesStayConsistentUnderRandomHistories) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    base::SeededRandom random(seed);
    Jobs jobs;
    std::vector<Job*> all;
    for (int i = 0; i < 6; ++i) {
      std::vector<Dependency> depends_on;
      for (Job* other : all) {
        const auto kind = random.below(5);
        if (kind == 0) depends_on.push_back(whole(other->record.id));
        if (kind == 1) depends_on.push_back(n_to_n(other->record.id));
      }
      if (random.below(3) == 0) depends_on.push_back(sequential());
      all.push_back(&jobs.add("j" + std::to_string(i), 6, depends_on));
    }
    check(jobs.table);
    for (int move = 0; move < 150; ++move) {
      Job& job = *all[random.below(all.size())];
      const auto index = static_cast<std::uint32_t>(random.below(6));
      const Status from = job.record.states.at(index);
      Status to = from;
      if (from == Status::runnable) to = Status::starting;
      if (from == Status::starting) to = Status::running;
      if (from == Status::running)
        to = std::array{Status::succeeded, Status::succeeded, Status::failed,
                        Status::runnable}[random.below(4)];
      if (random.below(60) == 0 && !is_terminal(from)) to = Status::failed;  // cancelled
      if (to != from) jobs.table.move(job, index, to, "x", kNow);
      check(jobs.table);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Shares, TheLeastUsedTimesWeightGoesNext) {
  FairShare policy{.weights = {{"red", 0.125}, {"blue*", 1}}};
  Usage usage;
  usage.add("red", 400);
  usage.add("blue1", 100);
  EXPECT_EQ(in_turn({"blue1", "red"}, policy, usage, {}),
            (std::vector<std::string>{"red", "blue1"}))
      << "a lower weight is worth eight times as much";
  EXPECT_EQ(policy.weight("blue77"), 1);
  EXPECT_EQ(policy.weight("other"), 1);
}

TEST(Shares, UsageIsForgotten) {
  Usage usage;
  usage.decay({0}, 600);
  usage.add("red", 100);
  usage.decay({300'000}, 600);
  EXPECT_DOUBLE_EQ(usage.of("red"), 50);
}

TEST(Shares, TheReservationShrinksWithEachActiveShare) {
  const FairShare policy{.reservation = 50};
  EXPECT_EQ(reserved(policy, 1, 64), 32);
  EXPECT_EQ(reserved(policy, 2, 64), 16);
  EXPECT_EQ(reserved(policy, 3, 64), 8);
  EXPECT_EQ(reserved({}, 1, 64), 0);
}

TEST(Shares, OverlappingPrefixesAreFound) {
  EXPECT_EQ(overlapping_shares({"red", "blue*"}), "");
  EXPECT_EQ(overlapping_shares({"blue1", "blue*"}), "blue* and blue1");
  EXPECT_EQ(overlapping_shares({"b*", "blue*"}), "b* and blue*");
}

}  // namespace
}  // namespace meridian::region::batch
