// SPDX-License-Identifier: Apache-2.0
#include "run/script/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"

namespace meridian::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ScriptJob make_job(std::map<std::string, std::string> hyperparameters) {
  ScriptJob job;
  job.job_name = "digits";
  job.region = "us-west-2";
  job.groups = {{"homogeneousCluster", "ml.c5.xlarge", {"algo-1", "algo-2"}}};
  job.current_host = "algo-2";
  job.current_group = "homogeneousCluster";
  job.hyperparameters = std::move(hyperparameters);
  job.hyperparameters.emplace("sagemaker_program", "train.py");
  job.input_data_config["train"] = base::parse_json(R"({"TrainingInputMode":"File"})").value();
  job.cpus = 4;
  return job;
}

std::vector<std::string> words(std::map<std::string, std::string> hyperparameters) {
  return command_line(user_hyperparameters(hyperparameters));
}

TEST(CommandLine, AValueWithBlanksIsOneWord) {
  EXPECT_THAT(words({{"key", "a b"}}), ElementsAre("--key", "a b"));
}

TEST(CommandLine, TextThatIsNotJsonPassesUnchanged) {
  EXPECT_THAT(words({{"b", "some text"}}), ElementsAre("-b", "some text"));
}

TEST(CommandLine, QuotesAreTakenOffOnceAndNeverAdded) {
  EXPECT_THAT(words({{"objective", "\"reg:squarederror\""}}),
              ElementsAre("--objective", "reg:squarederror"));
  EXPECT_THAT(words({{"objective", "reg:squarederror"}}),
              ElementsAre("--objective", "reg:squarederror"));
}

TEST(CommandLine, BooleansArePassedAsPythonPrintsThem) {
  EXPECT_THAT(words({{"flag", "False"}}), ElementsAre("--flag", "False"));
  EXPECT_THAT(words({{"flag", "true"}}), ElementsAre("--flag", "True"));
  EXPECT_THAT(words({{"flag", "null"}}), ElementsAre("--flag", "None"));
}

TEST(CommandLine, KeysAreSortedAndOneLetterKeysHaveOneDash) {
  EXPECT_THAT(words({{"lr", "0.1"}, {"b", "2"}, {"Z", "1"}}),
              ElementsAre("-Z", "1", "-b", "2", "--lr", "0.1"));
}

TEST(CommandLine, NumbersArePrintedAsPythonDoes) {
  EXPECT_THAT(
      words({{"aa", "0.00001"}, {"bb", "1e20"}, {"cc", "2.0"}, {"dd", "-3"}, {"ee", "1e3"}}),
      ElementsAre("--aa", "1e-05", "--bb", "1e+20", "--cc", "2.0", "--dd", "-3", "--ee", "1000.0"));
}

TEST(CommandLine, DictionariesBecomePairsAndListsStayLists) {
  EXPECT_THAT(words({{"dict", R"({"b": 2, "a": true})"}}), ElementsAre("--dict", "a=True,b=2"));
  EXPECT_THAT(words({{"list", R"([1, "x", 2.5, null])"}}),
              ElementsAre("--list", "[1, 'x', 2.5, None]"));
}

TEST(CommandLine, AnEmptyValueIsAnEmptyWord) {
  EXPECT_THAT(words({{"key", ""}}), ElementsAre("--key", ""));
}

TEST(CommandLine, PlatformParametersAreLeftOut) {
  EXPECT_THAT(words({{"sagemaker_program", "x.py"},
                     {"sagemaker_mpi_enabled", "true"},
                     {"_tuning_objective_metric", "loss"},
                     {"lr", "1"}}),
              ElementsAre("--lr", "1"));
}

TEST(ScriptEnvironment, HoldsTheToolkitsVariables) {
  const auto env = script_environment(make_job({{"learning-rate", "0.1"}, {"name", "\"abc\""}}));
  EXPECT_EQ(env.at("SM_HOSTS"), R"(["algo-1","algo-2"])");
  EXPECT_EQ(env.at("SM_CURRENT_HOST"), "algo-2");
  EXPECT_EQ(env.at("SM_CURRENT_INSTANCE_TYPE"), "ml.c5.xlarge");
  EXPECT_EQ(env.at("SM_CURRENT_INSTANCE_GROUP"), "homogeneousCluster");
  EXPECT_EQ(env.at("SM_CURRENT_INSTANCE_GROUP_HOSTS"), R"(["algo-1","algo-2"])");
  EXPECT_EQ(env.at("SM_INSTANCE_GROUPS"), R"(["homogeneousCluster"])");
  EXPECT_EQ(env.at("SM_DISTRIBUTION_INSTANCE_GROUPS"), R"(["homogeneousCluster"])");
  EXPECT_EQ(env.at("SM_IS_HETERO"), "false");
  EXPECT_EQ(env.at("SM_NETWORK_INTERFACE_NAME"), "eth0");
  EXPECT_EQ(env.at("SM_CHANNELS"), R"(["train"])");
  EXPECT_EQ(env.at("SM_CHANNEL_TRAIN"), "/opt/ml/input/data/train");
  EXPECT_EQ(env.at("SM_HP_LEARNING-RATE"), "0.1");
  EXPECT_EQ(env.at("SM_HP_NAME"), "abc");
  EXPECT_EQ(env.at("SM_HPS"), R"({"learning-rate":0.1,"name":"abc"})");
  EXPECT_EQ(env.at("SM_USER_ARGS"), R"(["--learning-rate","0.1","--name","abc"])");
  EXPECT_EQ(env.at("SM_USER_ENTRY_POINT"), "train.py");
  EXPECT_EQ(env.at("SM_MODULE_NAME"), "train");
  EXPECT_EQ(env.at("SM_MODEL_DIR"), "/opt/ml/model");
  EXPECT_EQ(env.at("SM_OUTPUT_DATA_DIR"), "/opt/ml/output/data");
  EXPECT_EQ(env.at("SM_INPUT_DATA_CONFIG"), R"({"train":{"TrainingInputMode":"File"}})");
  EXPECT_EQ(env.at("SM_NUM_CPUS"), "4");
  EXPECT_EQ(env.at("SM_NUM_GPUS"), "0");
  EXPECT_EQ(env.at("SM_LOG_LEVEL"), "20");
  EXPECT_EQ(env.at("SM_FRAMEWORK_PARAMS"), "{}");
  EXPECT_EQ(env.at("SAGEMAKER_JOB_NAME"), "digits");
  EXPECT_EQ(env.at("PYTHONPATH"), "/opt/ml/code");
  const auto whole = base::parse_json(env.at("SM_TRAINING_ENV")).value();
  EXPECT_EQ(base::string_or(whole, "master_hostname"), "algo-1");
  EXPECT_FALSE(base::bool_or(whole, "is_master", true));
}

TEST(ScriptEnvironment, HostsStartWithTheFirstWhateverTheOrderOfGroups) {
  ScriptJob job = make_job({});
  job.groups = {{"b", "ml.c5.large", {"algo-10", "algo-3"}},
                {"a", "ml.c5.large", {"algo-1", "algo-2"}}};
  job.current_group = "b";
  const auto env = script_environment(job);
  EXPECT_EQ(env.at("SM_HOSTS"), R"(["algo-1","algo-2","algo-3","algo-10"])");
  EXPECT_EQ(env.at("SM_IS_HETERO"), "true");
  EXPECT_EQ(env.at("SM_CURRENT_INSTANCE_GROUP_HOSTS"), R"(["algo-10","algo-3"])");
}

TEST(Launch, IsPlainByDefaultAndRunsTheScriptRunner) {
  const Launch launch = plan_launch(make_job({}));
  EXPECT_EQ(launch.kind, LaunchKind::plain);
  EXPECT_THAT(launch.argv, ElementsAre("/opt/meridian/bin/meridian-init", "script"));
  EXPECT_EQ(launch.environment.at("MERIDIAN_LAUNCH"), "plain");
}

TEST(Launch, MpiTakesItsSettingsFromTheHyperparameters) {
  const Launch launch = plan_launch(make_job({{"sagemaker_mpi_enabled", "true"},
                                              {"sagemaker_mpi_num_of_processes_per_host", "2"},
                                              {"sagemaker_mpi_custom_mpi_options", "\"-x A=1\""}}));
  EXPECT_EQ(launch.kind, LaunchKind::mpi);
  EXPECT_EQ(launch.environment.at("MERIDIAN_PROCESSES_PER_HOST"), "2");
  EXPECT_EQ(launch.environment.at("MERIDIAN_MPI_OPTIONS"), "-x A=1");
  EXPECT_EQ(launch.environment.at("OMPI_MCA_plm_rsh_agent"), "/opt/meridian/bin/meridian-init rsh");
  EXPECT_THAT(launch.environment.at("SM_FRAMEWORK_PARAMS"), HasSubstr("sagemaker_mpi_enabled"));
}

TEST(Launch, TorchStartsOneRankForEachGpu) {
  ScriptJob job = make_job({{"sagemaker_torch_distributed_enabled", "true"}});
  job.gpus = 8;
  EXPECT_EQ(plan_launch(job).environment.at("MERIDIAN_PROCESSES_PER_HOST"), "8");
  job.hyperparameters["sagemaker_torch_processes_per_host"] = "2";
  EXPECT_EQ(plan_launch(job).environment.at("MERIDIAN_PROCESSES_PER_HOST"), "2");
}

TEST(Launch, MpisRanksInAllAndItsInterfaceMayBeGiven) {
  const Launch launch = plan_launch(make_job({{"sagemaker_mpi_enabled", "true"},
                                              {"sagemaker_mpi_num_processes", "3"},
                                              {"sagemaker_network_interface_name", "\"ens5\""}}));
  EXPECT_EQ(launch.environment.at("MERIDIAN_PROCESSES"), "3");
  EXPECT_EQ(launch.environment.at("MERIDIAN_NETWORK_INTERFACE"), "ens5");
  EXPECT_EQ(launch.environment.at("SM_NETWORK_INTERFACE_NAME"), "eth0");
}

TEST(Launch, MirroredWorkersFindEachOtherInTfConfig) {
  ScriptJob job = make_job({{"sagemaker_multi_worker_mirrored_strategy_enabled", "true"}});
  const Launch launch = plan_launch(job);
  EXPECT_EQ(launch.kind, LaunchKind::plain);
  EXPECT_EQ(launch.environment.at("TF_CONFIG"),
            R"({"cluster":{"worker":["algo-1:8890","algo-2:8891"]},"environment":"cloud",)"
            R"("task":{"index":1,"type":"worker"}})");
  job.groups[0].hosts = {"algo-2"};
  EXPECT_FALSE(plan_launch(job).environment.contains("TF_CONFIG"));
}

TEST(Launch, ParameterServersRunBesideAMasterAndWorkers) {
  ScriptJob job = make_job({{"sagemaker_parameter_server_enabled", "true"}});
  const Launch launch = plan_launch(job);
  EXPECT_EQ(launch.kind, LaunchKind::parameter_server);
  EXPECT_EQ(
      launch.environment.at("TF_CONFIG"),
      R"({"cluster":{"master":["algo-1:2222"],"ps":["algo-1:2223","algo-2:2225"],)"
      R"("worker":["algo-2:2224"]},"environment":"cloud","task":{"index":0,"type":"worker"}})");
  job.current_host = "algo-1";
  EXPECT_THAT(plan_launch(job).environment.at("TF_CONFIG"),
              HasSubstr(R"("task":{"index":0,"type":"master"})"));
  job.groups[0].hosts = {"algo-1"};
  EXPECT_EQ(plan_launch(job).kind, LaunchKind::plain);
}

TEST(Launch, XlaNeedsGpus) {
  ScriptJob job = make_job({{"sagemaker_pytorch_xla_multi_worker_enabled", "true"}});
  EXPECT_THROW(plan_launch(job), base::Error);
  job.gpus = 2;
  EXPECT_EQ(plan_launch(job).kind, LaunchKind::xla);
}

TEST(Launch, HostsOutsideTheDistributionRunPlainly) {
  ScriptJob job = make_job({{"sagemaker_mpi_enabled", "true"},
                            {"sagemaker_distribution_instance_groups", R"(["gpus"])"}});
  job.groups = {{"gpus", "ml.p3.2xlarge", {"algo-1"}}, {"cpus", "ml.c5.xlarge", {"algo-2"}}};
  job.current_group = "cpus";
  EXPECT_EQ(plan_launch(job).kind, LaunchKind::plain);
  job.current_group = "gpus";
  EXPECT_EQ(plan_launch(job).kind, LaunchKind::mpi);
  EXPECT_EQ(plan_launch(job).environment.at("MERIDIAN_LAUNCH_HOSTS"), R"(["algo-1"])");
}

TEST(Launch, SettingsMayComeFromTheEnvironmentInCapitals) {
  ScriptJob job = make_job({});
  job.hyperparameters.erase("sagemaker_program");
  job.environment["SAGEMAKER_PROGRAM"] = "other.py";
  job.environment["SAGEMAKER_MPI_ENABLED"] = "true";
  job.environment["SAGEMAKER_TRAINING_MODULE"] = "framework.training:main";
  EXPECT_EQ(plan_launch(job).environment.at("SM_USER_ENTRY_POINT"), "other.py");
  EXPECT_EQ(plan_launch(job).environment.at("SM_FRAMEWORK_MODULE"), "framework.training:main");
  EXPECT_EQ(plan_launch(job).kind, LaunchKind::mpi);
}

void expect_refused(const ScriptJob& job, const std::string& why) {
  try {
    plan_launch(job);
    FAIL() << "accepted";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::invalid_argument);
    EXPECT_THAT(error.message(), HasSubstr(why));
  }
}

TEST(Launch, BadSettingsAreNamedWithTheirValue) {
  ScriptJob job = make_job({});
  job.hyperparameters.erase("sagemaker_program");
  expect_refused(job, "sagemaker_program");
  expect_refused(make_job({{"sagemaker_mpi_enabled", "maybe"}}), "'maybe'");
  expect_refused(make_job({{"sagemaker_mpi_enabled", "true"},
                           {"sagemaker_mpi_num_of_processes_per_host", "0"}}),
                 "'0'");
  expect_refused(
      make_job({{"sagemaker_mpi_enabled", "true"}, {"sagemaker_mpi_num_processes", "many"}}),
      "'many'");
  expect_refused(make_job({{"sagemaker_distribution_instance_groups", R"(["none"])"}}), "'none'");
}

}  // namespace
}  // namespace meridian::run
