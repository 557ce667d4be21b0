// The pure parts: decisions, state machine, programs, reasons.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "region/training/failure.h"
#include "region/training/fixture.h"
#include "region/training/image.h"
#include "region/training/plan.h"
#include "region/training/records.h"

namespace meridian::region::training {
namespace {

using Act = Decision::Act;
using testing::HasSubstr;
using Work = control::ActivityStatus::Phase;

TEST(StateMachine, EveryPhaseIsReachableAndDoneStaysDone) {
  std::set<Phase> reached{Phase::leasing};
  for (std::size_t round = 0; round < std::size(kPhases); ++round)
    for (Phase from : std::set<Phase>(reached))
      for (Phase to : kPhases)
        if (may_follow(from, to)) reached.insert(to);
  EXPECT_EQ(reached.size(), std::size(kPhases));
  for (Phase to : kPhases) EXPECT_FALSE(may_follow(Phase::done, to)) << name(to);
}

TEST(StateMachine, FromEveryPhaseTheJobCanEnd) {
  for (Phase start : kPhases) {
    std::set<Phase> reached{start};
    for (std::size_t round = 0; round < std::size(kPhases); ++round)
      for (Phase from : std::set<Phase>(reached))
        for (Phase to : kPhases)
          if (may_follow(from, to)) reached.insert(to);
    EXPECT_TRUE(reached.contains(Phase::done)) << name(start);
  }
}

TEST(StateMachine, EveryCauseIsNamedAndEndsTheJobUnlessItGoesOn) {
  for (Cause cause : kCauses) {
    EXPECT_EQ(parse_cause(name(cause)), cause);
    bool goes_on = cause == Cause::none || cause == Cause::reclaim;
    EXPECT_EQ(ending_of(cause).has_value(), !goes_on) << name(cause);
  }
}

TEST(StateMachineDeathTest, AMoveThatTheTableLacksAborts) {
  JobRecord record;
  record.name = "j";
  record.phase = Phase::done;
  EXPECT_DEATH(move_to(record, Phase::leasing), "no way from done to leasing");
}

TEST(Records, ARecordReadsBackAsItWasWritten) {
  JobRecord record;
  record.name = "j";
  record.request = {{"Unknown", {{"deep", 1}}}};
  record.transitions = {{"Starting", {5}, base::Timestamp{6}, "m"}};
  record.started = base::Timestamp{7};
  record.phase = Phase::ending;
  record.cause = Cause::reclaim;
  record.timings.billable_ms = 12;
  record.gpus = {3, 4};
  store::Document document{.key = "k", .revision = 9, .body = base::to_text(to_json(record))};
  JobRecord back = parse_record(document);
  EXPECT_EQ(base::to_text(to_json(back)), document.body);
  EXPECT_EQ(back.revision, 9);
  EXPECT_EQ(back.gpus, record.gpus);
}

TEST(Timings, CountByPhaseAndIgnoreAnotherBoot) {
  Timings t{.last_ticks = 1000, .boot_id = "a"};
  accumulate(t, Phase::leasing, false, {1500}, "a");
  accumulate(t, Phase::staging, true, {1600}, "a");
  accumulate(t, Phase::running, true, {2600}, "a");
  EXPECT_EQ(t.total_ms, 1600);
  EXPECT_EQ(t.pending_ms, 500);
  EXPECT_EQ(t.billable_ms, 1100);
  EXPECT_EQ(t.running_ms, 1000);
  accumulate(t, Phase::running, true, {9'999'999}, "b");
  EXPECT_EQ(t.running_ms, 1000);
  accumulate(t, Phase::running, true, {5}, "b");
  EXPECT_EQ(t.running_ms, 1000);
}

run::InstanceStatus running() { return {.phase = run::InstanceStatus::Phase::running}; }
run::InstanceStatus ended(run::ExitStatus exit, std::int64_t at = 0) {
  exit.at = {at};
  return {.phase = run::InstanceStatus::Phase::ended, .exit = exit};
}

struct Row {
  const char* what;
  Observed observed;
  Act act;
  Cause cause = Cause::none;
};

TEST(Decide, FollowsTheTable) {
  Bounds retried{.retries = 1};
  Bounds spot{.max_wait_ms = 1000, .reclaim_after_ms = 50};
  const Row rows[] = {
      {"waits for a lease", {.phase = Phase::leasing}, Act::wait},
      {"begins with a lease", {.phase = Phase::leasing, .leased = true}, Act::begin},
      {"a stop while waiting ends it",
       {.phase = Phase::leasing, .stop_requested = true},
       Act::finish,
       Cause::user_stop},
      {"waits no longer than MaxWait",
       {.phase = Phase::leasing, .timings = {.total_ms = 1000}, .bounds = spot},
       Act::finish,
       Cause::max_wait},
      {"stages", {.phase = Phase::staging}, Act::do_work},
      {"a stop cancels staging",
       {.phase = Phase::staging, .stop_requested = true, .work = WorkState{Work::running}},
       Act::drop_work},
      {"launches when staged",
       {.phase = Phase::staging, .work = WorkState{Work::succeeded}},
       Act::launch},
      {"bad data is the client's",
       {.phase = Phase::staging, .work = WorkState{Work::failed, Cause::client}},
       Act::finish,
       Cause::client},
      {"our failure is retried",
       {.phase = Phase::staging, .bounds = retried, .work = WorkState{Work::failed, Cause::lost}},
       Act::restart,
       Cause::lost},
      {"retries end",
       {.phase = Phase::staging,
        .retries = 1,
        .bounds = retried,
        .work = WorkState{Work::failed, Cause::lost}},
       Act::finish,
       Cause::lost},
      {"starts what is missing",
       {.phase = Phase::running, .instances = {running(), {}}},
       Act::start},
      {"one bad end ends the gang",
       {.phase = Phase::running, .instances = {running(), ended(run::exited(1))}},
       Act::end_gang,
       Cause::failed},
      {"a lost supervisor is not the program's fault",
       {.phase = Phase::running, .instances = {running(), ended(run::lost())}},
       Act::end_gang,
       Cause::lost},
      {"an instance that could not be set up is not the program's fault",
       {.phase = Phase::running,
        .instances = {ended({.kind = run::ExitStatus::Kind::not_started})}},
       Act::end_gang,
       Cause::lost},
      {"a feed that failed ends the gang",
       {.phase = Phase::running,
        .work = WorkState{Work::failed, Cause::client},
        .instances = {running()}},
       Act::end_gang,
       Cause::client},
      {"a gang that can't ever be had ends for want of capacity",
       {.phase = Phase::leasing, .work = WorkState{Work::failed, Cause::capacity}},
       Act::finish,
       Cause::capacity},
      {"the first bad end decides",
       {.phase = Phase::running, .instances = {ended(run::lost(), 9), ended(run::exited(1), 3)}},
       Act::end_gang,
       Cause::failed},
      {"a good end waits for the others",
       {.phase = Phase::running, .instances = {running(), ended(run::exited(0))}},
       Act::wait},
      {"all good ends complete",
       {.phase = Phase::running, .instances = {ended(run::exited(0)), ended(run::exited(0))}},
       Act::upload,
       Cause::completed},
      {"a bad end beats a stop",
       {.phase = Phase::running, .stop_requested = true, .instances = {ended(run::exited(2))}},
       Act::end_gang,
       Cause::failed},
      {"the policy reclaims",
       {.phase = Phase::running,
        .timings = {.attempt_ms = 50},
        .bounds = spot,
        .instances = {running()}},
       Act::end_gang,
       Cause::reclaim},
      {"the policy waits until then",
       {.phase = Phase::running,
        .timings = {.attempt_ms = 49},
        .bounds = spot,
        .instances = {running()}},
       Act::wait},
      {"too few spot instances reclaim",
       {.phase = Phase::running, .spot_gone = true, .instances = {running()}},
       Act::end_gang,
       Cause::reclaim},
      {"presses while one lives",
       {.phase = Phase::ending,
        .cause = Cause::user_stop,
        .instances = {running(), ended(run::signalled(15))}},
       Act::press,
       Cause::user_stop},
      {"uploads when all have ended",
       {.phase = Phase::ending,
        .cause = Cause::user_stop,
        .instances = {ended(run::signalled(15))}},
       Act::upload,
       Cause::user_stop},
      {"a completed job whose upload failed is not completed",
       {.phase = Phase::uploading,
        .cause = Cause::completed,
        .work = WorkState{Work::failed, Cause::client}},
       Act::finish,
       Cause::client},
      {"a failed job fails whatever its upload does",
       {.phase = Phase::uploading,
        .cause = Cause::failed,
        .work = WorkState{Work::failed, Cause::client}},
       Act::finish,
       Cause::failed},
      {"a reclaimed job starts again",
       {.phase = Phase::uploading, .cause = Cause::reclaim, .work = WorkState{Work::succeeded}},
       Act::restart,
       Cause::reclaim},
      {"done is done", {.phase = Phase::done, .stop_requested = true}, Act::wait},
  };
  for (const Row& row : rows) {
    Decision decision = decide(row.observed);
    EXPECT_EQ(static_cast<int>(decision.act), static_cast<int>(row.act)) << row.what;
    if (row.cause != Cause::none) {
      EXPECT_EQ(name(decision.cause), name(row.cause)) << row.what;
    }
  }
}

TEST(NextLimit, IsTheSoonestOfThoseThatRun) {
  Observed o{.phase = Phase::running,
             .timings = {.total_ms = 100, .running_ms = 40},
             .bounds = {.max_runtime_ms = 100, .max_wait_ms = 150}};
  EXPECT_EQ(next_limit(o), base::Duration(50));
  o.spot_change_ms = 20;
  EXPECT_EQ(next_limit(o), base::Duration(20));
  o.phase = Phase::uploading;
  EXPECT_FALSE(next_limit(o));
}

TEST(Image, TheConfigurationsRulesComeFirst) {
  auto program =
      decide_program({.image = "own:latest"}, {{"own:*", "host:/venv/bin/python"}}, fake_probe());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->python, "/venv/bin/python");
  EXPECT_THAT(program->explanation, HasSubstr("image rule 'own:*'"));
}

TEST(Image, ARegistrysNameAlsoMeansTheLocalImage) {
  auto program = decide_program(
      {.image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/own:latest"}, {}, fake_probe());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kind, Program::Kind::oci);
  EXPECT_EQ(program->image, "own:latest");
}

TEST(Image, XgboostWithoutAScriptIsTheBuiltInAlgorithm) {
  auto program = decide_program(
      {.image = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-xgboost:1.7-1"}, {},
      fake_probe());
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kind, Program::Kind::xgboost);
}

TEST(Image, HostNeedsSomethingToRun) {
  EXPECT_FALSE(decide_program({.image = "host"}, {}, fake_probe()));
  EXPECT_TRUE(decide_program({.image = "host", .has_entrypoint = true}, {}, fake_probe()));
}

TEST(Image, GlobsMatchTheWholeName) {
  EXPECT_TRUE(glob_matches("*pytorch*", "a/pytorch-training:1"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbXbc"));
  EXPECT_FALSE(glob_matches("a*b", "abc"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_EQ(repository_name("r.io/team/pytorch-training:2.1@sha256:00"), "pytorch-training");
}

TEST(Failure, TheProgramsOwnWordsWinAndAreBounded) {
  FailureFacts facts{.exit = run::exited(3), .host = "algo-1", .file = std::string(5000, 'x')};
  facts.last_lines = {"other"};
  std::string reason = algorithm_error(facts);
  EXPECT_LE(reason.size(), 1024u);
  EXPECT_THAT(reason, testing::AllOf(testing::StartsWith("AlgorithmError: xxx"),
                                     testing::EndsWith(", exit code: 3")));
}

TEST(Failure, OutOfMemoryIsSaid) {
  FailureFacts facts{.exit = run::signalled(9), .host = "algo-1", .memory_limit_bytes = 1u << 30};
  facts.exit.out_of_memory = true;
  EXPECT_THAT(algorithm_error(facts),
              testing::AllOf(HasSubstr("out of memory (limit 1"), HasSubstr("exit code: 137")));
}

TEST(Failure, TheLastLinesAreKeptWhenThereIsNoRoomForAll) {
  FailureFacts facts{.exit = run::exited(1), .host = "algo-1"};
  for (int i = 0; i < 20; ++i)
    facts.last_lines.push_back(std::string(200, 'a') + std::to_string(i));
  EXPECT_THAT(algorithm_error(facts), HasSubstr("a19, exit code: 1"));
}

}  // namespace
}  // namespace meridian::region::training
