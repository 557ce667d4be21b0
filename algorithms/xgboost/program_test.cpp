// The program itself, on the handwritten digits of examples/data.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "xgboost/booster.h"
#include "xgboost/serve.h"

namespace meridian::xgboost {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A container's /opt/ml with the first lines of the digits as channels.
class Program : public testing::Test {
 protected:
  Program() { make_root(paths_.root = directory_.path() / "ml", 0, 1, {"algo-1"}, "algo-1"); }

  // Every `of`-th line from `shard` goes to this instance's train channel.
  static void make_root(const fs::path& root, int shard, int of,
                        const std::vector<std::string>& hosts, const std::string& own) {
    for (const char* folder : {"input/config", "input/data/train", "input/data/validation", "model",
                               "output", "checkpoints"})
      fs::create_directories(root / folder);
    std::string train, validation;
    int number = 0;
    for (const auto& line : base::split(
             base::read_file(std::string(MERIDIAN_SOURCE_DIR) + "/examples/data/digits/digits.csv"),
             '\n')) {
      if (line.empty() || ++number > 300) break;
      const auto row = line + "\n";
      if (number % 5 == 0)
        validation += row;
      else if (number % of == shard)
        train += row;
    }
    base::write_file(root / "input/data/train/t.csv", train);
    base::write_file(root / "input/data/validation/v.csv", validation);
    base::write_file(
        root / "input/config/inputdataconfig.json",
        R"({"train":{"ContentType":"text/csv"},"validation":{"ContentType":"text/csv"}})");
    base::JsonArray all;
    for (const auto& host : hosts) all.emplace_back(host);
    base::write_file(root / "input/config/resourceconfig.json",
                     base::to_text(base::JsonObject{{"current_host", own}, {"hosts", all}}));
  }
  static void set_hyperparameters(const fs::path& root, base::JsonObject more = {}) {
    base::JsonObject all{{"num_round", "4"},      {"objective", "multi:softmax"},
                         {"num_class", "10"},     {"max_depth", "3"},
                         {"seed", "1"},           {"nthread", "1"},
                         {"tree_method", "hist"}, {"eval_metric", "merror"}};
    for (auto& [name, value] : more) all[name] = value;
    base::write_file(root / "input/config/hyperparameters.json", base::to_text(all));
  }
  struct Outcome {
    int status;
    std::string output;
  };
  static Outcome train(const fs::path& root) {
    const auto command =
        std::string(MERIDIAN_XGBOOST_PROGRAM) + " train --root " + root.string() + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    char buffer[4096];
    while (const auto size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
  }

  base::TempDir directory_;
  Paths paths_;
};

TEST_F(Program, TrainsAndPrintsTheOriginalsMetricLines) {
  set_hyperparameters(paths_.root);
  const auto outcome = train(paths_.root);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(
      outcome.output,
      testing::ContainsRegex("\\[3\\]\ttrain-merror:0\\.[0-9]+\tvalidation-merror:0\\.[0-9]+"));
  EXPECT_TRUE(fs::exists(paths_.model()));
}

TEST_F(Program, AResumedTrainingEndsWithTheSameModel) {
  set_hyperparameters(paths_.root);
  ASSERT_EQ(train(paths_.root).status, 0);
  const auto whole = base::read_file(paths_.model());
  fs::remove(paths_.checkpoints() / "xgboost-checkpoint");
  set_hyperparameters(paths_.root, {{"num_round", "2"}});
  ASSERT_EQ(train(paths_.root).status, 0);
  EXPECT_NE(base::read_file(paths_.model()), whole);
  set_hyperparameters(paths_.root);
  const auto outcome = train(paths_.root);
  EXPECT_THAT(outcome.output, HasSubstr("Resuming after round 1"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("[1]\t")));
  EXPECT_EQ(base::read_file(paths_.model()), whole);
}

TEST_F(Program, AWrongHyperparameterIsTheFailureReason) {
  set_hyperparameters(paths_.root, {{"num_rond", "4"}});
  EXPECT_EQ(train(paths_.root).status, 1);
  EXPECT_THAT(base::read_file(paths_.failure()), HasSubstr("did you mean 'num_round'?"));
}

TEST_F(Program, AMissingChannelIsTheFailureReason) {
  set_hyperparameters(paths_.root);
  fs::remove_all(paths_.channel("train"));
  EXPECT_EQ(train(paths_.root).status, 1);
  EXPECT_THAT(base::read_file(paths_.failure()), HasSubstr("no channel named 'train'"));
}

TEST_F(Program, TwoInstancesTrainOneModel) {
  // Both are on this machine: the second is only a name for the first's tracker.
  const std::vector<std::string> hosts{"localhost", "algo-2"};
  const auto first = directory_.path() / "first", second = directory_.path() / "second";
  make_root(first, 0, 2, hosts, "localhost");
  make_root(second, 1, 2, hosts, "algo-2");
  set_hyperparameters(first);
  set_hyperparameters(second);
  Outcome one{}, two{};
  {
    std::jthread a([&] { one = train(first); });
    std::jthread b([&] { two = train(second); });
  }
  ASSERT_EQ(one.status, 0) << one.output;
  ASSERT_EQ(two.status, 0) << two.output;
  EXPECT_THAT(one.output, HasSubstr("[3]\ttrain-merror:"));
  EXPECT_THAT(two.output, Not(HasSubstr("train-merror")));  // only the first prints and saves
  EXPECT_TRUE(fs::exists(first / "model/xgboost-model"));
  EXPECT_FALSE(fs::exists(second / "model/xgboost-model"));
  // The model has seen both halves: it knows rows that only the second instance had.
  Booster booster;
  booster.load_model(base::read_file(first / "model/xgboost-model"));
  const auto rows = read_directory(second / "input/data/train", DataFormat::csv, Weights::none);
  const auto predictions = booster.predict(Matrix(rows));
  int right = 0;
  for (std::size_t row = 0; row < rows.count(); ++row)
    right += predictions.values[row] == rows.labels[row];
  EXPECT_GT(right, static_cast<int>(rows.count() * 9 / 10));
}

class Serving : public Program {
 protected:
  Serving() {
    set_hyperparameters(paths_.root);
    const auto outcome = train(paths_.root);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    service_ = std::make_unique<Service>(paths_);
  }
  net::Response post(const std::string& body, const std::string& type = "text/csv",
                     const std::string& accept = "",
                     Service::Style style = Service::Style::online) {
    net::Request request;
    request.method = "POST";
    request.path = "/invocations";
    request.headers.set("Content-Type", type);
    if (!accept.empty()) request.headers.set("Accept", accept);
    return service_->answer(request, body, style);
  }
  // An empty image.
  static std::string row() {
    std::string text = "0";
    for (int column = 1; column < 64; ++column) text += ",0";
    return text;
  }
  std::unique_ptr<Service> service_;
};

TEST_F(Serving, AnswersPingAndOneValuePerRow) {
  net::Request ping;
  ping.method = "GET";
  ping.path = "/ping";
  EXPECT_EQ(service_->answer(ping, "", Service::Style::online).status, 200);
  const auto online = post(row() + "\n" + row());
  EXPECT_EQ(online.status, 200) << online.body;
  EXPECT_THAT(online.body, testing::MatchesRegex("[0-9].0,[0-9].0"));
  EXPECT_THAT(post(row() + "\n" + row(), "text/csv", "", Service::Style::batch).body,
              testing::MatchesRegex("[0-9].0\n[0-9].0\n"));
  EXPECT_THAT(post(row(), "text/csv", "application/json").body,
              HasSubstr("{\"predictions\":[{\"score\":"));
  EXPECT_EQ(post("3:1 7:2", "text/libsvm").status, 200);
}

TEST_F(Serving, WrongRequestsAreExplained) {
  EXPECT_EQ(post("1,2").status, 400);
  EXPECT_THAT(post("1,2").body, HasSubstr("2 features, the model has 64"));
  EXPECT_EQ(post("").status, 400);
  EXPECT_EQ(post("a,b").status, 400);
  EXPECT_EQ(post(row(), "image/png").status, 415);
}

}  // namespace
}  // namespace meridian::xgboost
