// Real gangs that run real scripts, started as a training job starts them.
//
// SPDX-License-Identifier: Apache-2.0
#include "run/script/script_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run/script/launcher.h"
#include "run/test_instances.h"

namespace meridian::run {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Scripts : public Instances {
 protected:
  Scripts() { base::make_directories(work() / "code"); }

  void write_code(const std::string& name, const std::string& text) {
    base::write_file(work() / "code" / name, text);
  }

  // The instances of a job, algo-1 first.
  std::vector<InstanceSpec> gang(int count, std::map<std::string, std::string> hyperparameters) {
    std::vector<std::string> names;
    std::vector<Host> hosts;
    for (int i = 1; i <= count; ++i) {
      names.push_back("algo-" + std::to_string(i));
      hosts.push_back({names.back(), "127.0.1." + std::to_string(i)});
    }
    std::vector<InstanceSpec> specs;
    for (const std::string& name : names) {
      ScriptJob job;
      job.job_name = "job";
      job.groups = {{"g", "ml.c5.xlarge", names}};
      job.current_host = name;
      job.current_group = "g";
      job.hyperparameters = hyperparameters;
      const Launch launch = plan_launch(job);
      InstanceSpec spec = script("");
      spec.id = "test/job/1/" + name;
      spec.hostname = name;
      spec.directory = work() / name;
      spec.log_file = work() / (name + ".log");
      spec.hosts = hosts;
      spec.argv = launch.argv;
      spec.network = count > 1 ? Network::isolated : Network::host;
      for (const auto& [key, value] : launch.environment) spec.environment[key] = value;
      const auto own = work() / (name + "-ml");
      base::make_directories(own / "output");
      spec.mounts = {{own, "/opt/ml", Mount::Mode::read_write},
                     {work() / "code", "/opt/ml/code", Mount::Mode::overlay}};
      specs.push_back(std::move(spec));
    }
    return specs;
  }

  std::vector<InstanceStatus> run_gang(const std::vector<InstanceSpec>& specs) {
    for (const auto& spec : specs) start(spec);
    std::vector<InstanceStatus> ends;
    for (const auto& spec : specs) ends.push_back(wait_end(spec.id));
    return ends;
  }

  std::string failure(const std::string& host) const {
    return base::read_file_if_exists(work() / (host + "-ml") / "output" / "failure");
  }
  std::vector<std::string> log(const std::string& host) const {
    return output(work() / (host + ".log"));
  }
};

TEST_F(Scripts, APythonScriptGetsItsArgumentsWhole) {
  write_code("train.py", "import sys, json; print(json.dumps(sys.argv))");
  const auto ends = run_gang(gang(1, {{"sagemaker_program", "train.py"}, {"key", "a b"}}));
  EXPECT_EQ(ends[0].exit->code, 0);
  EXPECT_THAT(log("algo-1"), Contains(R"(["train.py", "--key", "a b"])"));
  EXPECT_TRUE(std::filesystem::exists(work() / "algo-1-ml/output/success"));
}

TEST_F(Scripts, AShellScriptGetsAllArguments) {
  write_code("train.sh", "#!/bin/sh\nfor w in \"$@\"; do echo \"<$w>\"; done");
  run_gang(gang(1, {{"sagemaker_program", "train.sh"}, {"key", "a 'b"}, {"z", "$HOME"}}));
  EXPECT_THAT(log("algo-1"), testing::ElementsAre("<--key>", "<a 'b>", "<-z>", "<$HOME>"));
}

TEST_F(Scripts, AFailureTellsTheExitCodeAndTheLastErrors) {
  write_code("train.py", "import sys; print('details', file=sys.stderr); sys.exit(3)");
  const auto ends = run_gang(gang(1, {{"sagemaker_program", "train.py"}}));
  EXPECT_EQ(ends[0].exit->code, 3);
  EXPECT_THAT(failure("algo-1"), HasSubstr("ExitCode 3\nErrorMessage \"details\""));
}

TEST_F(Scripts, AFailureThatTheScriptWroteStays) {
  write_code("train.py", "open('/opt/ml/output/failure','w').write('mine'); raise SystemExit(1)");
  run_gang(gang(1, {{"sagemaker_program", "train.py"}}));
  EXPECT_EQ(failure("algo-1"), "mine");
}

TEST_F(Scripts, AMissingEntryPointIsNamedWithWhatIsThere) {
  write_code("other.py", "");
  const auto ends = run_gang(gang(1, {{"sagemaker_program", "train.py"}}));
  EXPECT_EQ(ends[0].exit->code, 1);
  EXPECT_THAT(failure("algo-1"), HasSubstr("/opt/ml/code/train.py does not exist"));
  EXPECT_THAT(failure("algo-1"), HasSubstr("other.py"));
}

TEST_F(Scripts, StopReachesTheScript) {
  write_code("train.py",
             "import signal, sys, time\n"
             "signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))\n"
             "print('ready')\nwhile True: time.sleep(0.02)\n");
  const auto specs = gang(1, {{"sagemaker_program", "train.py"}});
  start(specs[0]);
  EXPECT_TRUE(eventually([&] { return !log("algo-1").empty(); }));
  engine().stop(specs[0].id);
  const auto end = wait_end(specs[0].id);
  EXPECT_EQ(end.exit->kind, ExitStatus::Kind::exited);
  EXPECT_EQ(end.exit->code, 0);
  EXPECT_TRUE(end.exit->stopped);
}

TEST_F(Scripts, RequirementsThatFailAreTheFailure) {
  write_code("train.py", "");
  write_code("requirements.txt", "./no-such-package\n");
  const auto ends = run_gang(gang(1, {{"sagemaker_program", "train.py"}}));
  EXPECT_EQ(ends[0].exit->code, 1);
  EXPECT_THAT(failure("algo-1"), HasSubstr("cannot install requirements.txt: "));
  EXPECT_THAT(failure("algo-1"), HasSubstr("no-such-package"));
}

// Stands in for TensorFlow's server: listens where TF_CONFIG says, for ever.
constexpr char kFakeTensorFlow[] =
    "import socket, time\n"
    "class distribute:\n"
    "  class Server:\n"
    "    def __init__(self, cluster, job_name, task_index):\n"
    "      host, port = cluster[job_name][task_index].split(':')\n"
    "      self.s = socket.create_server((host, int(port)))\n"
    "      print('server', job_name, task_index, flush=True)\n"
    "    def join(self): time.sleep(3600)\n";

TEST_F(Scripts, ParameterServersStayUntilTheMasterIsThrough) {
  write_code("tensorflow.py", kFakeTensorFlow);
  write_code("train.py",
             "import json, os, socket, time\n"
             "config = json.loads(os.environ['TF_CONFIG'])\n"
             "print('task', config['task']['type'], flush=True)\n"
             "if config['task']['type'] == 'master':\n"
             "  for address in config['cluster']['ps']:\n"
             "    host, port = address.split(':')\n"
             "    while True:\n"
             "      try: socket.create_connection((host, int(port))).close(); break\n"
             "      except OSError: time.sleep(0.01)\n"
             "    print('reached', address, flush=True)\n");
  const auto ends = run_gang(
      gang(2, {{"sagemaker_program", "train.py"}, {"sagemaker_parameter_server_enabled", "true"}}));
  EXPECT_EQ(ends[0].exit->code, 0) << failure("algo-1");
  EXPECT_EQ(ends[1].exit->code, 0) << failure("algo-2");
  EXPECT_THAT(log("algo-1"), testing::IsSupersetOf({"task master", "reached algo-1:2223",
                                                    "reached algo-2:2225", "server ps 0"}));
  EXPECT_THAT(log("algo-2"), testing::IsSupersetOf({"task worker", "server ps 1"}));
}

TEST_F(Scripts, AParameterServerThatCanNotStartIsTheFailure) {
  write_code("tensorflow.py", "raise ImportError('no such framework')\n");
  write_code("train.py", "import time; time.sleep(600)\n");
  const auto ends = run_gang(
      gang(2, {{"sagemaker_program", "train.py"}, {"sagemaker_parameter_server_enabled", "true"}}));
  EXPECT_EQ(ends[0].exit->code, 1);
  EXPECT_THAT(failure("algo-1"), HasSubstr("no such framework"));
}

TEST_F(Scripts, AMissingHostIsNamedAfterABoundedWait) {
  write_code("train.py", "");
  auto specs = gang(2, {{"sagemaker_program", "train.py"}});
  specs[0].environment["MERIDIAN_RENDEZVOUS_SECONDS"] = "0";
  EXPECT_EQ(run_gang({specs[0]})[0].exit->code, 1);
  EXPECT_THAT(failure("algo-1"), HasSubstr("host algo-2 did not come up"));
}

TEST_F(Scripts, AHostThatIsThroughAlreadyWasThere) {
  write_code("train.py", "");
  // An empty script: some of the hosts are gone before others look for them.
  for (const auto& status : run_gang(gang(6, {{"sagemaker_program", "train.py"}}))) {
    EXPECT_EQ(status.exit->code, 0);
  }
}

TEST_F(Scripts, TorchRanksSeeTheWholeWorld) {
  write_code("train.py",
             "import os; print('rank', *(os.environ[k] for k in "
             "('RANK','LOCAL_RANK','WORLD_SIZE','GROUP_RANK','MASTER_ADDR')))");
  run_gang(gang(2, {{"sagemaker_program", "train.py"},
                    {"sagemaker_torch_distributed_enabled", "true"},
                    {"sagemaker_torch_processes_per_host", "2"}}));
  EXPECT_THAT(log("algo-1"), UnorderedElementsAre("rank 0 0 4 0 algo-1", "rank 1 1 4 0 algo-1"));
  EXPECT_THAT(log("algo-2"), UnorderedElementsAre("rank 2 0 4 1 algo-1", "rank 3 1 4 1 algo-1"));
}

TEST_F(Scripts, AFailedTorchRankTakesAStoppedOneWithIt) {
  write_code("train.py",
             "import os, signal, sys, time\n"
             "if os.environ['RANK'] == '0': os.kill(os.getpid(), signal.SIGSTOP)\n"
             "time.sleep(0.2); print('gone', file=sys.stderr); sys.exit(7)\n");
  const auto ends = run_gang(gang(1, {{"sagemaker_program", "train.py"},
                                      {"sagemaker_torch_distributed_enabled", "true"},
                                      {"sagemaker_torch_processes_per_host", "2"}}));
  EXPECT_EQ(ends[0].exit->code, 7);
  EXPECT_THAT(failure("algo-1"), HasSubstr("gone"));
}

class MpiScripts : public Scripts {
 protected:
  void SetUp() override {
    if (access("/usr/bin/mpirun", X_OK) != 0) GTEST_SKIP() << "Open MPI is not installed";
  }
  std::vector<InstanceSpec> mpi_gang(const std::string& program) {
    return gang(2, {{"sagemaker_program", program},
                    {"sagemaker_mpi_enabled", "true"},
                    {"sagemaker_mpi_num_of_processes_per_host", "2"},
                    {"sagemaker_mpi_custom_mpi_options",
                     "-mca btl_vader_single_copy_mechanism none -x HOROVOD_FUSION_THRESHOLD=1"}});
  }
};

TEST_F(MpiScripts, RunOnEveryHostWithItsOwnEnvironment) {
  write_code("train.sh",
             "#!/bin/sh\necho $(hostname) $SM_CURRENT_HOST $OMPI_COMM_WORLD_RANK "
             "$HOROVOD_FUSION_THRESHOLD\n");
  const auto ends = run_gang(mpi_gang("train.sh"));
  EXPECT_EQ(ends[0].exit->code, 0);
  EXPECT_EQ(ends[1].exit->code, 0);
  const auto lines = log("algo-1");
  EXPECT_THAT(lines, Contains("[1,mpirank:0,algo-1]<stdout>:algo-1 algo-1 0 1"));
  EXPECT_THAT(lines, Contains("[1,mpirank:3,algo-2]<stdout>:algo-2 algo-2 3 1"));
}

TEST_F(MpiScripts, ReduceOverAllRanks) {
  write_code("train.py",
             "from mpi4py import MPI\n"
             "w = MPI.COMM_WORLD\n"
             "print('sum', w.allreduce(w.Get_rank()), flush=True)\n");
  const auto ends = run_gang(mpi_gang("train.py"));
  if (ends[0].exit->code != 0 && failure("algo-1").find("mpi4py") != std::string::npos) {
    GTEST_SKIP() << "python3-mpi4py is not installed";
  }
  EXPECT_EQ(ends[0].exit->code, 0) << failure("algo-1");
  EXPECT_THAT(log("algo-1"), Contains("[1,mpirank:2,algo-2]<stdout>:sum 6"));
}

TEST_F(MpiScripts, ARankThatFailsEndsStoppedAndStubbornOnesAndDecides) {
  const std::string mark = unique_mark();
  write_code("train.sh",
             "#!/bin/sh\n"
             "case $OMPI_COMM_WORLD_RANK in\n"
             "  0) kill -STOP $$;;\n"
             "  1) (trap '' TERM; exec sleep " +
                 mark +
                 ") & wait;;\n"
                 "  3) sleep 0.3; echo bad >&2; exit 7;;\n"
                 "esac\nsleep " +
                 mark + "\n");
  const auto ends = run_gang(mpi_gang("train.sh"));
  EXPECT_EQ(ends[0].exit->code, 7);
  EXPECT_THAT(failure("algo-1"), HasSubstr("ExitCode 7\nErrorMessage \"bad\""));
  EXPECT_FALSE(process_exists(mark));
}

TEST_F(MpiScripts, ARankThatDiesInACollectiveEndsTheOthers) {
  write_code("train.py",
             "from mpi4py import MPI\n"
             "w = MPI.COMM_WORLD\n"
             "if w.Get_rank() == 2: raise RuntimeError('no more')\n"
             "w.allreduce(1)\n");
  const auto ends = run_gang(mpi_gang("train.py"));
  EXPECT_NE(ends[0].exit->code, 0);
  EXPECT_THAT(failure("algo-1"), HasSubstr("RuntimeError: no more"));
}

}  // namespace
}  // namespace meridian::run
