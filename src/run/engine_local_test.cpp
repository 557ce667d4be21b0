// Real instances: what the lifetime table of the design promises, as whoever runs the tests.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "run/engine.h"
#include "run/log_file.h"
#include "run/records.h"
#include "run/test_instances.h"

namespace meridian::run {
namespace {

using Phase = InstanceStatus::Phase;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(Instances, AProgramRunsAndItsExitCodeIsKept) {
  const auto status = run(script("echo hello; echo problem >&2; exit 3"));
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::exited);
  EXPECT_EQ(status.exit->code, 3);
  EXPECT_FALSE(status.exit->stopped);
  EXPECT_TRUE(status.started.has_value());
  EXPECT_THAT(output(), Contains("hello"));
  EXPECT_THAT(output(), Contains("problem"));
}

TEST_F(Instances, ASignalThatKillsTheProgramIsReported) {
  const auto status = run(script("kill -SEGV $$"));
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::signalled);
  EXPECT_EQ(status.exit->code, SIGSEGV);
}

TEST_F(Instances, AProgramThatDoesNotExistEndsWith127) {
  InstanceSpec spec = script("");
  spec.argv = {"/no/such/program"};
  const auto status = run(spec);
  EXPECT_EQ(status.exit->code, 127);
  EXPECT_THAT(output(), Contains(HasSubstr("cannot run /no/such/program")));
}

TEST_F(Instances, AMissingMountIsNotStartedAndNamed) {
  InstanceSpec spec = script("true");
  spec.mounts.push_back({"/no/such/directory", "/opt/ml/input", Mount::Mode::read_only});
  const auto status = run(spec);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::not_started);
  EXPECT_THAT(status.exit->message, HasSubstr("/no/such/directory"));
}

TEST_F(Instances, ChildrenThatStayBehindAreKilledAndTheExitCodeIsKept) {
  const std::string mark = unique_mark();
  const auto status =
      run(script("setsid sh -c 'trap \"\" TERM; sleep " + mark + "' & sleep 0.05; exit 5"));
  EXPECT_EQ(status.exit->code, 5);
  EXPECT_FALSE(process_exists(mark));
}

TEST_F(Instances, StopTerminatesTheProgram) {
  const auto id = start(script("trap 'exit 9' TERM; echo ready; while :; do sleep 0.02; done"));
  wait_for_output("ready");
  engine().stop(id);
  const auto status = wait_end(id);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::exited);
  EXPECT_EQ(status.exit->code, 9);
  EXPECT_TRUE(status.exit->stopped);
}

TEST_F(Instances, AProgramThatIgnoresStopIsKilledAfterTheGrace) {
  const std::string mark = unique_mark();
  InstanceSpec spec = script("trap '' TERM; echo ready; sleep " + mark);
  spec.grace = base::Duration(100);
  const auto id = start(spec);
  wait_for_output("ready");
  engine().stop(id);
  const auto status = wait_end(id);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::signalled);
  EXPECT_EQ(status.exit->code, SIGKILL);
  EXPECT_TRUE(status.exit->stopped);
  EXPECT_FALSE(process_exists(mark));
}

TEST_F(Instances, KillEndsAStoppedProgramAndItsStubbornGrandchild) {
  const std::string mark = unique_mark();
  const auto id = start(script("(trap '' TERM; sleep " + mark + ") & echo ready; kill -STOP $$"));
  wait_for_output("ready");
  engine().kill(id);
  EXPECT_TRUE(wait_end(id).exit->stopped);
  EXPECT_FALSE(process_exists(mark));
}

TEST_F(Instances, TheDeathOfTheSupervisorEndsEverythingAndIsLost) {
  const std::string mark = unique_mark();
  const auto id = start(script("setsid sleep " + mark + " & echo ready; sleep " + mark));
  wait_for_output("ready");
  kill(find_supervisor_record(directory())->pid, SIGKILL);
  const auto status = wait_end(id);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::lost);
  EXPECT_TRUE(eventually([&] { return !process_exists(mark); }));
}

TEST_F(Instances, TheDeathOfTheFirstProcessInsideIsLost) {
  const std::string mark = unique_mark();
  const auto id = start(script("echo ready; sleep " + mark));
  wait_running(id);
  kill(find_running_record(directory())->init_pid, SIGKILL);
  const auto status = wait_end(id);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::lost);
  EXPECT_FALSE(process_exists(mark));
}

TEST_F(Instances, AnotherEngineAdoptsARunningInstanceAndItsEnd) {
  const auto id =
      start(script("echo ready; while [ ! -e /opt/ml/go ]; do sleep 0.02; done; exit 4"));
  wait_for_output("ready");
  replace_engine();
  EXPECT_EQ(engine().adopt(directory()).phase, Phase::running);
  base::write_file(ml() / "go", "");
  EXPECT_EQ(wait_end(id).exit->code, 4);
}

TEST_F(Instances, AnInstanceThatEndedUnderNobodysWatchIsAdoptedWithItsExitCode) {
  const auto id = start(script("exit 6"));
  wait_end(id);
  replace_engine();
  const auto status = engine().adopt(directory());
  EXPECT_EQ(status.phase, Phase::ended);
  EXPECT_EQ(status.exit->code, 6);
}

TEST_F(Instances, ARecordWhosePidIsAnotherProcessByNowIsLost) {
  base::make_directories(directory());
  write_supervisor_record(directory(), {.id = "x",
                                        .pid = getpid(),
                                        .start_time = *find_start_time(getpid()) + 1,
                                        .boot_id = boot_id(),
                                        .protocol = 1});
  EXPECT_EQ(engine().adopt(directory()).exit->kind, ExitStatus::Kind::lost);
}

TEST_F(Instances, StartedTwiceItRunsOnce) {
  const InstanceSpec spec = script("echo once >> /opt/ml/runs; sleep 0.1");
  engine().start(spec);
  engine().start(spec);
  wait_end(spec.id);
  EXPECT_EQ(base::read_file(ml() / "runs"), "once\n");
}

TEST_F(Instances, ChangesAreToldAtStartAndEnd) {
  const auto id = start(script("while [ ! -e /opt/ml/go ]; do sleep 0.02; done"));
  EXPECT_TRUE(eventually([&] { return changes(id) == 1; }));
  EXPECT_EQ(engine().observe(id).phase, Phase::running);
  base::write_file(ml() / "go", "");
  EXPECT_TRUE(eventually([&] { return changes(id) == 2; }));
  EXPECT_EQ(engine().observe(id).phase, Phase::ended);
}

TEST_F(Instances, LookLikeHosts) {
  InstanceSpec spec = script("hostname; getent hosts algo-2 algo-1 | tr -s ' '; ls -d /opt/ml");
  spec.hosts.push_back({"algo-2", "127.0.1.2"});
  run(spec);
  EXPECT_THAT(output(), ElementsAre("algo-1", "127.0.1.2 algo-2", "127.0.1.1 algo-1", "/opt/ml"));
}

TEST_F(Instances, HaveNoPrivilegesAndCannotGetAny) {
  run(
      script("grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t '; "
             "unshare -U true 2>/dev/null || echo refused; id -u"));
  EXPECT_THAT(output(),
              ElementsAre("CapEff:0000000000000000", "CapBnd:0000000000000000", "NoNewPrivs:1",
                          "Seccomp:2", "refused", std::to_string(program_uid())));
}

TEST_F(Instances, SeeOnlyTheirOwnProcesses) {
  run(script("ls /proc | grep -c '^[0-9]'"));
  EXPECT_LT(base::to_int(output().at(0)).value(), 6);
}

TEST_F(Instances, WriteOnlyToTheirOwnDirectories) {
  run(
      script("touch /opt/ml/a /tmp/b /dev/shm/c && echo wrote; touch /usr/d /etc/e 2>/dev/null || "
             "echo refused"));
  EXPECT_THAT(output(), ElementsAre("wrote", "refused"));
  EXPECT_TRUE(std::filesystem::exists(ml() / "a"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/b"));
}

TEST_F(Instances, HiddenDirectoriesAreEmpty) {
  const auto secret = shared_directory("secret");
  if (secret.empty()) GTEST_SKIP() << "needs a directory outside /tmp that this user may write";
  base::write_file(secret / "key", "k");
  InstanceSpec spec = script("ls -A " + secret.string() + " | wc -l; ls /opt/ml");
  spec.hidden = {secret};
  run(spec);
  EXPECT_THAT(output(), ElementsAre("0"));
}

TEST_F(Instances, AChannelMayBeWrittenAndTheStoredFileStaysAsItIs) {
  const auto stored = work() / "stored";
  base::make_directories(stored);
  base::write_file(stored / "object", "bytes", base::Durability::none, 0444);
  InstanceSpec spec = script(
      "cd /opt/ml/input/data/train; cat object; echo; chmod 600 object && : > object && "
      "echo new > object && cat object; mv object other && touch third && ls");
  spec.mounts.push_back({stored, "/opt/ml/input/data/train", Mount::Mode::overlay});
  run(spec);
  EXPECT_THAT(output(), ElementsAre("bytes", "new", "other", "third"));
  EXPECT_EQ(base::read_file(stored / "object"), "bytes");
  struct stat info{};
  ASSERT_EQ(stat((stored / "object").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0444u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(stored), {}), 1);
  EXPECT_FALSE(std::filesystem::exists(directory() / "scratch"));
}

TEST_F(Instances, ALinkThatLeadsOutIsNoMountPoint) {
  const auto outside = work() / "outside";
  base::make_directories(outside);
  InstanceSpec spec = script("true");
  std::filesystem::create_symlink(outside, ml() / "input");
  spec.mounts.push_back({work(), "/opt/ml/input/data/train", Mount::Mode::read_only});
  const auto status = run(spec);
  EXPECT_EQ(status.exit->kind, ExitStatus::Kind::not_started);
  EXPECT_THAT(status.exit->message, HasSubstr("leads out of the instance"));
  EXPECT_TRUE(std::filesystem::is_empty(outside));
}

TEST_F(Instances, AReadOnlyMountRefusesWrites) {
  const auto data = work() / "data";
  base::make_directories(data);
  InstanceSpec spec = script("touch /data/input/x 2>/dev/null || echo refused");
  spec.mounts.push_back({data, "/data/input", Mount::Mode::read_only});
  run(spec);
  EXPECT_THAT(output(), ElementsAre("refused"));
}

TEST_F(Instances, TwoGangsUseTheSamePortAtOnce) {
  const char* listen =
      "import socket,time\n"
      "s=socket.socket(); s.bind(('0.0.0.0',7777)); s.listen(); print('bound',flush=True)\n"
      "import os\n"
      "while not os.path.exists('/opt/ml/go'): time.sleep(0.02)\n";
  InstanceSpec first = script(""), second = script("");
  first.argv = second.argv = {"/usr/bin/python3", "-c", listen};
  first.network = second.network = Network::isolated;
  first.gang = "one";
  second.gang = "two";
  second.id += "-b";
  second.directory = work() / "second";
  second.log_file = work() / "second.log";
  engine().start(first);
  wait_for_output("bound");
  engine().start(second);
  EXPECT_TRUE(eventually([&] { return output(second.log_file).size() == 1; }));
  EXPECT_EQ(output(second.log_file).at(0), "bound");
  base::write_file(ml() / "go", "");
  wait_end(first.id);
  wait_end(second.id);
}

}  // namespace
}  // namespace meridian::run
