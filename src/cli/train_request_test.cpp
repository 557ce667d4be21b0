// SPDX-License-Identifier: Apache-2.0
#include "cli/train_request.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/golden.h"

namespace meridian::cli {
namespace {

using testing::HasSubstr;

const TrainContext kContext{
    .account = "000000000000", .region = "us-west-2", .now = {1'700'000'000'000}};

// A directory with a script and data, as the current directory of the test's options.
class TrainRequest : public testing::Test {
 protected:
  TrainRequest() {
    write("src/train.py", "print()");
    write("src/tools/prepare.py", "print()");
    write("data/a.csv", "1,2");
  }
  void write(const std::string& name, const std::string& text) {
    const auto file = root.path() / name;
    std::filesystem::create_directories(file.parent_path());
    base::write_file(file, text);
  }
  std::string path(const std::string& name) { return (root.path() / name).string(); }
  std::string error_of(const TrainOptions& options) {
    try {
      plan_training(options, kContext);
    } catch (const base::Error& error) {
      return error.what();
    }
    return "no error";
  }
  base::TempDir root;
};

std::string request_text(const TrainPlan& plan) {
  return base::to_text(base::Json(*plan.request), base::JsonStyle::pretty) + "\n";
}

TEST_F(TrainRequest, AScriptOnTwoInstancesOfTwoRanks) {
  TrainOptions options;
  options.script = "train.py";
  options.source = path("src");
  options.framework = "pytorch";
  options.torch = true;
  options.instances = options.processes = 2;
  options.channels = {"train=" + path("data"), "extra=s3://other/data/"};
  options.hyperparameters = {"epochs=8", "name=a=b"};
  options.metrics = {"loss=loss=([0-9.]+)"};
  options.job_name = "digits";
  const auto plan = plan_training(options, kContext);
  expect_golden("train_torch.json", request_text(plan));
  EXPECT_EQ(plan.bucket, "meridian-us-west-2-000000000000");
  EXPECT_TRUE(plan.own_bucket);
  ASSERT_EQ(plan.uploads.size(), 1u);
  EXPECT_EQ(plan.uploads[0].name, "train");
  EXPECT_EQ(plan.code, std::filesystem::path(path("src")));
}

TEST_F(TrainRequest, MpiOnSpotWithEverythingSaid) {
  TrainOptions options;
  options.script = path("src/train.py");
  options.mpi = options.spot = options.isolated = true;
  options.mpi_options = "-mca pml ob1 -x A=1";
  options.processes = 4;
  options.retries = 3;
  options.keep_alive = 60;
  options.max_run = 100;
  options.environment = {"A=1"};
  options.tags = {"team=vision"};
  options.output = "s3://results/here";
  options.checkpoints = "s3://results/checkpoints";
  options.job_name = "mpi";
  expect_golden("train_mpi_spot.json", request_text(plan_training(options, kContext)));
}

TEST_F(TrainRequest, TheNameComesFromTheDirectoryWhenTheScriptSaysLittle) {
  TrainOptions options;
  options.script = "train.py";
  options.source = path("src");
  EXPECT_EQ(plan_training(options, kContext).job, "src-20231114-221320");
  options.script = "tools/prepare.py";
  EXPECT_EQ(plan_training(options, kContext).job, "prepare-20231114-221320");
  EXPECT_EQ(make_job_name("ümlaut_and.dots", kContext.now), "mlaut-and-dots-20231114-221320");
  EXPECT_EQ(make_job_name(std::string(100, 'a'), kContext.now).size(), 63u);
}

TEST_F(TrainRequest, AScriptGivenByPathIsFoundInItsSource) {
  TrainOptions options;
  options.source = path("src");
  options.script = path("src/tools/prepare.py");
  const auto plan = plan_training(options, kContext);
  const base::Json request(*plan.request);
  EXPECT_EQ(*base::find_path(request, "HyperParameters.sagemaker_program"),
            base::Json("tools/prepare.py"));
}

TEST_F(TrainRequest, AnAlgorithmNeedsNoScriptAndLearnsTheContentType) {
  TrainOptions options;
  options.framework = "xgboost";
  options.channels = {"train=" + path("data")};
  const auto plan = plan_training(options, kContext);
  EXPECT_FALSE(plan.code);
  const auto text = request_text(plan);
  EXPECT_THAT(text, HasSubstr("sagemaker-xgboost"));
  EXPECT_THAT(text, HasSubstr("text/csv"));
}

TEST_F(TrainRequest, WrongFlagsAreRefusedByName) {
  EXPECT_THAT(error_of({}), HasSubstr("--script"));
  TrainOptions options;
  options.script = "no.py";
  EXPECT_THAT(error_of(options), HasSubstr("--script no.py: no such file"));
  options.source = path("src");
  EXPECT_THAT(error_of(options), HasSubstr("no such file in --source"));
  options.script = "train.py";
  options.channels = {"train=/no/such"};
  EXPECT_THAT(error_of(options), HasSubstr("'/no/such'"));
  options.channels = {"train"};
  EXPECT_THAT(error_of(options), HasSubstr("--channel train: expected NAME=VALUE"));
  options.channels = {};
  options.framework = "pytorc";
  EXPECT_THAT(error_of(options), HasSubstr("did you mean 'pytorch'?"));
  options.framework = "";
  options.processes = 2;
  EXPECT_THAT(error_of(options), HasSubstr("--mpi or --torch"));
  options.mpi = options.torch = true;
  EXPECT_THAT(error_of(options), HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace meridian::cli
