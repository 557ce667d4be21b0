// SPDX-License-Identifier: Apache-2.0
#include "run/script/script_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/strings.h"
#include "run/script/requirements.h"
#include "run/script/shell_words.h"

namespace meridian::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ScriptPlan make_plan() {
  ScriptPlan plan;
  plan.kind = LaunchKind::mpi;
  plan.hosts = {"algo-1", "algo-2"};
  plan.current_host = "algo-2";
  plan.processes_per_host = 2;
  plan.python = "/usr/bin/python3";
  plan.program = "train.py";
  plan.module = "train";
  plan.arguments = {"--key", "a b"};
  return plan;
}

std::string mpirun(ScriptPlan plan, bool has_interface = true) {
  return base::join(mpirun_command(plan, {"python3", "train.py"}, has_interface, {"PATH"}), " ");
}

TEST(ShellWords, AreSplitAsAShellDoes) {
  EXPECT_THAT(parse_shell_words("-x A=1  'b c' \"d \\\" $e\" f\\ g ''").value(),
              ElementsAre("-x", "A=1", "b c", "d \" $e", "f g", ""));
  EXPECT_FALSE(parse_shell_words("-x 'open").ok());
  EXPECT_EQ(parse_shell_words("-x 'open").error().offset, 3u);
}

TEST(ShellWords, QuotedTheyReadBackTheSame) {
  const std::vector<std::string> words{"plain", "a b", "it's", "\"q\"", "", "$HOME", "back\\slash"};
  EXPECT_EQ(parse_shell_words(quote_shell_words(words)).value(), words);
}

TEST(UserCommand, KeepsEveryArgument) {
  EXPECT_THAT(user_command(make_plan(), Entry::python_file),
              ElementsAre("/usr/bin/python3", "train.py", "--key", "a b"));
  EXPECT_THAT(user_command(make_plan(), Entry::module, true),
              ElementsAre("/usr/bin/python3", "-m", "mpi4py", "-m", "train", "--key", "a b"));
}

TEST(TorchEnvironment, NumbersRanksOverAllHosts) {
  const auto env = torch_environment(make_plan(), 1);
  EXPECT_EQ(env.at("RANK"), "3");
  EXPECT_EQ(env.at("LOCAL_RANK"), "1");
  EXPECT_EQ(env.at("WORLD_SIZE"), "4");
  EXPECT_EQ(env.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(env.at("GROUP_RANK"), "1");
  EXPECT_EQ(env.at("MASTER_ADDR"), "algo-1");
  EXPECT_EQ(env.at("MASTER_PORT"), "7777");
}

TEST(TorchEnvironment, HoldsWhatTorchrunSets) {
  const auto env = torch_environment(make_plan(), 1);
  EXPECT_EQ(env.at("TORCHELASTIC_RUN_ID"), "none");
  EXPECT_EQ(env.at("TORCHELASTIC_RESTART_COUNT"), "0");
  EXPECT_EQ(env.at("TORCHELASTIC_MAX_RESTARTS"), "0");
  EXPECT_EQ(env.at("TORCHELASTIC_USE_AGENT_STORE"), "False");
  EXPECT_EQ(env.at("GROUP_WORLD_SIZE"), "2");
  EXPECT_EQ(env.at("ROLE_RANK"), "3");
  EXPECT_EQ(env.at("ROLE_WORLD_SIZE"), "4");
  EXPECT_EQ(env.at("ROLE_NAME"), "default");
}

TEST(Xla, HostsAndTheirGpusAreNamed) {
  ScriptPlan plan = make_plan();
  plan.gpus = 4;
  EXPECT_THAT(xla_command(plan),
              ElementsAre("/usr/bin/python3", "-m", "torch_xla.distributed.xla_spawn", "--num_gpus",
                          "4", "train.py", "--key", "a b"));
  const auto env = xla_environment(plan);
  EXPECT_EQ(env.at("XRT_HOST_ORDINAL"), "1");
  EXPECT_EQ(env.at("XRT_SHARD_WORLD_SIZE"), "2");
  EXPECT_EQ(env.at("XRT_WORKERS"), "localservice:0;algo-1:43857|localservice:1;algo-2:43857");
  EXPECT_EQ(env.at("XRT_MESH_SERVICE_ADDRESS"), "algo-1:53957");
  EXPECT_EQ(env.at("GPU_NUM_DEVICES"), "4");
}

TEST(TorchEnvironment, SharesTheProcessorsAmongTheRanks) {
  ScriptPlan plan = make_plan();
  plan.cpus = 8;
  EXPECT_EQ(torch_environment(plan, 0).at("OMP_NUM_THREADS"), "4");
  plan.cpus = 1;
  EXPECT_EQ(torch_environment(plan, 0).at("OMP_NUM_THREADS"), "1");
}

TEST(Mpirun, StartsAllRanksWithTheContractsFlags) {
  const std::string command = mpirun(make_plan());
  EXPECT_THAT(command, HasSubstr("mpirun --host algo-1:2,algo-2:2 -np 4 --allow-run-as-root"));
  EXPECT_THAT(command, HasSubstr("-mca btl_tcp_if_include eth0 -mca oob_tcp_if_include eth0"));
  EXPECT_THAT(command, HasSubstr("-mca btl_vader_single_copy_mechanism none"));
  EXPECT_THAT(command, HasSubstr("-x PATH"));
  EXPECT_TRUE(command.ends_with("python3 train.py")) << command;
}

TEST(Mpirun, OneProcessPerHostNeedsNoCount) {
  ScriptPlan plan = make_plan();
  plan.processes_per_host = 1;
  EXPECT_THAT(mpirun(plan), HasSubstr("--host algo-1,algo-2 -np 2"));
}

TEST(Mpirun, RanksInAllMayBeFewerThanPlaces) {
  ScriptPlan plan = make_plan();
  plan.all_processes = 3;
  EXPECT_THAT(mpirun(plan), HasSubstr("--host algo-1:2,algo-2:2 -np 3"));
}

TEST(Mpirun, WithoutTheInterfaceItIsNotNamed) {
  EXPECT_THAT(mpirun(make_plan(), false), Not(HasSubstr("if_include")));
}

TEST(Mpirun, CustomOptionsArePassedOnAndReplaceOurs) {
  ScriptPlan plan = make_plan();
  plan.mpi_options =
      "-mca btl_vader_single_copy_mechanism emulated -x HOROVOD_FUSION_THRESHOLD=16777216 "
      "--NCCL_DEBUG=INFO";
  const std::string command = mpirun(plan);
  EXPECT_THAT(command, HasSubstr("-mca btl_vader_single_copy_mechanism emulated"));
  EXPECT_THAT(command, Not(HasSubstr("btl_vader_single_copy_mechanism none")));
  EXPECT_THAT(command, HasSubstr("-x HOROVOD_FUSION_THRESHOLD=16777216"));
  EXPECT_THAT(command, HasSubstr("-x NCCL_DEBUG=INFO"));
  EXPECT_THAT(command, Not(HasSubstr("--NCCL_DEBUG")));
}

TEST(Mpirun, AnOpenQuoteInTheOptionsIsRefused) {
  ScriptPlan plan = make_plan();
  plan.mpi_options = "-x A='1";
  EXPECT_THROW(mpirun(plan), base::Error);
}

TEST(RankNames, AreWrittenIntoTheTags) {
  EXPECT_EQ(name_rank(make_plan(), "[1,3]<stdout>:loss 1"), "[1,mpirank:3,algo-2]<stdout>:loss 1");
  EXPECT_EQ(name_rank(make_plan(), "[1,0]<stderr>:"), "[1,mpirank:0,algo-1]<stderr>:");
  EXPECT_EQ(name_rank(make_plan(), "[1,9]<stdout>:x"), "[1,9]<stdout>:x");
  EXPECT_EQ(name_rank(make_plan(), "[1,x]<stdout>:x"), "[1,x]<stdout>:x");
  EXPECT_EQ(name_rank(make_plan(), "plain [1,2]"), "plain [1,2]");
}

TEST(RankErrors, LeaveOutWhatMpirunSays) {
  EXPECT_EQ(rank_errors("----\n[1,mpirank:0,algo-1]<stderr>:bad\nmpirun detected\n"), "bad\n");
  EXPECT_EQ(rank_errors("mpirun: cannot start\n"), "mpirun: cannot start\n");
}

TEST(FailureText, HasTheToolkitsForm) {
  EXPECT_EQ(failure_text(3, "Traceback\nValueError: no\n", {"python3", "train.py", "--k", "a b"}),
            "ExecuteUserScriptError:\nExitCode 3\nErrorMessage \"Traceback\nValueError: no\"\n"
            "Command \"python3 train.py --k 'a b'\"");
  EXPECT_THAT(failure_text(137, "", {"x"}), HasSubstr("out of memory"));
  EXPECT_LT(failure_text(1, std::string(5000, 'x'), {"x"}).size(), 1024u);
}

TEST(PipReason, IsTheLastErrorLine) {
  EXPECT_EQ(pip_reason("Collecting a\nERROR: first\nERROR: No matching distribution\nnotice: x\n"),
            "ERROR: No matching distribution");
  EXPECT_EQ(pip_reason("one\ntwo\n\n"), "two");
}

TEST(ScriptPlan, IsReadFromWhatTheLauncherWrote) {
  ScriptJob job;
  job.groups = {{"g", "ml.c5.xlarge", {"algo-1", "algo-2"}}};
  job.current_host = "algo-2";
  job.current_group = "g";
  job.hyperparameters = {{"sagemaker_program", "train.py"},
                         {"sagemaker_mpi_enabled", "true"},
                         {"sagemaker_mpi_num_of_processes_per_host", "2"},
                         {"key", "a b"}};
  const auto environment = plan_launch(job).environment;
  const ScriptPlan plan = read_script_plan([&](const std::string& name) {
    const auto it = environment.find(name);
    return it == environment.end() ? std::nullopt : std::optional(it->second);
  });
  EXPECT_EQ(plan.kind, LaunchKind::mpi);
  EXPECT_THAT(plan.hosts, ElementsAre("algo-1", "algo-2"));
  EXPECT_EQ(plan.host_index(), 1);
  EXPECT_FALSE(plan.is_master());
  EXPECT_EQ(plan.processes_per_host, 2);
  EXPECT_THAT(plan.arguments, ElementsAre("--key", "a b"));
}

}  // namespace
}  // namespace meridian::run
