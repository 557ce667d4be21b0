// SPDX-License-Identifier: Apache-2.0
#include "xgboost/data.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "base/json.h"
#include "xgboost/hyperparameters.h"
#include "xgboost/train.h"

namespace meridian::xgboost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string error_of(const base::Result<std::size_t>& result) {
  return result ? "no error" : result.error().text();
}

TEST(Csv, TheLabelComesFirstAndEmptyFieldsAreMissing) {
  Rows rows;
  ASSERT_TRUE(append_csv("1,0.5,,2e-3\r\n\n0,+1,nan,4", {}, rows));
  EXPECT_THAT(rows.labels, ElementsAre(1, 0));
  EXPECT_THAT(rows.values, ElementsAre(0.5f, 2e-3f, 1, 4));
  EXPECT_THAT(rows.columns, ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(rows.starts, ElementsAre(0, 2, 4));
  EXPECT_EQ(rows.width, 3u);
}

TEST(Csv, WeightsAreTheSecondColumnOnRequest) {
  Rows rows;
  ASSERT_TRUE(append_csv("1,0.5,7\n0,2,8\n", {.weights = Weights::second}, rows));
  EXPECT_THAT(rows.weights, ElementsAre(0.5f, 2));
  EXPECT_THAT(rows.values, ElementsAre(7, 8));
  EXPECT_THAT(error_of(append_csv("1,-1,7", {.weights = Weights::second}, rows)),
              HasSubstr("weight '-1'"));
}

TEST(Csv, RequestsHaveNoLabel) {
  Rows rows;
  ASSERT_TRUE(append_csv("1;2\n3;4", {.labels = Labels::none}, rows));
  EXPECT_TRUE(rows.labels.empty());
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 3, 4));
}

TEST(Csv, WhatIsNoNumberIsRefusedWithItsLine) {
  Rows rows;
  EXPECT_THAT(error_of(append_csv("1,2\nlabel,3", {}, rows)),
              testing::AllOf(HasSubstr("line 2"), HasSubstr("no header line")));
  EXPECT_THAT(error_of(append_csv("1,2,3", {}, rows)), HasSubstr("2 features, but 1"));
  EXPECT_THAT(error_of(append_csv("1,x", {}, rows)), HasSubstr("'x' in column 1"));
}

TEST(Libsvm, IndexesAreKeptAndWeightsFollowTheLabel) {
  Rows rows;
  ASSERT_TRUE(append_libsvm("1:0.5 0:1 7:2 # note\n0:2 3:4\n", Labels::first, rows));
  EXPECT_THAT(rows.labels, ElementsAre(1, 0));
  EXPECT_THAT(rows.weights, ElementsAre(0.5f, 2));
  EXPECT_THAT(rows.columns, ElementsAre(0, 7, 3));
  EXPECT_EQ(rows.width, 8u);
}

TEST(Libsvm, BrokenPairsAreRefused) {
  Rows rows;
  for (const char* text : {"1 x:2", "1 2", "1 -1:2", "1 99999999999:2", "a 1:2", "1 1:"})
    EXPECT_NE(error_of(append_libsvm(text, Labels::first, rows)), "no error") << text;
}

TEST(Libsvm, RequestsMayCarryALabel) {
  Rows rows;
  ASSERT_TRUE(append_libsvm("0:1 2:3\n5 0:1", Labels::none, rows));
  EXPECT_EQ(rows.count(), 2u);
  EXPECT_TRUE(rows.labels.empty());
}

TEST(ContentTypes, CsvAndLibsvmWithParameters) {
  EXPECT_EQ(parse_content_type("text/csv; label_size=1"), DataFormat::csv);
  EXPECT_EQ(parse_content_type("text/x-libsvm"), DataFormat::libsvm);
  EXPECT_EQ(parse_content_type(""), DataFormat::libsvm);  // the original's default
  EXPECT_THROW(parse_content_type("application/x-parquet"), base::Error);
}

TEST(Directory, FilesAreReadInOrderAndErrorsNameThem) {
  const base::TempDir directory;
  base::write_file(directory.path() / "b.csv", "2,1\n");
  base::write_file(directory.path() / "a.csv", "1,1\n");
  EXPECT_THAT(read_directory(directory.path(), DataFormat::csv, Weights::none).labels,
              ElementsAre(1, 2));
  base::write_file(directory.path() / "c.csv", "x,1\n");
  try {
    read_directory(directory.path(), DataFormat::csv, Weights::none);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("c.csv, line 1"));
  }
}

std::string faults_of(base::JsonObject sent) {
  try {
    parse_hyperparameters(sent);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Hyperparameters, BothSpellingsOfAWordAreTheSame) {
  for (const char* spelling : {"reg:logistic", "\"reg:logistic\""})
    EXPECT_EQ(parse_hyperparameters({{"num_round", "5"}, {"objective", spelling}}).objective,
              "reg:logistic");
}

TEST(Hyperparameters, OnlyWhatTheLibraryKnowsIsHandedOn) {
  const auto all = parse_hyperparameters({{"num_round", "5"},
                                          {"eta", "0.3"},
                                          {"eval_metric", "rmse,mae"},
                                          {"early_stopping_rounds", "3"},
                                          {"_tuning_objective_metric", "validation:rmse"},
                                          {"sagemaker_region", "us-west-2"}});
  EXPECT_EQ(all.rounds, 5);
  EXPECT_EQ(all.early_stopping_rounds, 3);
  EXPECT_THAT(all.parameters, ElementsAre(Pair("eta", "0.3"), Pair("objective", "reg:squarederror"),
                                          Pair("eval_metric", "rmse"), Pair("eval_metric", "mae")));
}

TEST(Hyperparameters, EverythingWrongIsSaidAtOnce) {
  const auto text = faults_of({{"max_dept", "3"}, {"eta", "2"}, {"booster", "tree"}});
  EXPECT_THAT(text, HasSubstr("unknown hyperparameter 'max_dept'; did you mean 'max_depth'?"));
  EXPECT_THAT(text, HasSubstr("eta is '2'; it must be a number of at least 0 and at most 1"));
  EXPECT_THAT(text, HasSubstr("one of gbtree, gblinear, dart"));
  EXPECT_THAT(text, HasSubstr("num_round is missing"));
  EXPECT_THAT(faults_of({{"num_round", "1.5"}}), HasSubstr("an integer of at least 1"));
  EXPECT_THAT(faults_of({{"num_round", "1"}, {"objective", "multi:softmax"}}),
              HasSubstr("needs num_class"));
}

TEST(EarlyStopping, StopsWhenTheLastMetricNoLongerImproves) {
  EarlyStopping stopping(2);
  EXPECT_FALSE(stopping.see(0, "[0]\ttrain-rmse:1\tvalidation-rmse:0.5"));
  EXPECT_FALSE(stopping.see(1, "[1]\ttrain-rmse:0.9\tvalidation-rmse:0.6"));
  EXPECT_TRUE(stopping.see(2, "[2]\ttrain-rmse:0.8\tvalidation-rmse:0.5"));
  EXPECT_EQ(stopping.best_round(), 0);
}

TEST(EarlyStopping, KnowsWhereLargerIsBetterAndSurvivesACheckpoint) {
  EarlyStopping first(2);
  EXPECT_FALSE(first.see(0, "[0]\tvalidation-auc:0.5"));
  EXPECT_FALSE(first.see(1, "[1]\tvalidation-auc:0.7"));
  EarlyStopping second(2);
  second.restore(base::Json(first.state()));
  EXPECT_FALSE(second.see(2, "[2]\tvalidation-auc:0.6"));
  EXPECT_TRUE(second.see(3, "[3]\tvalidation-auc:0.6"));
  EXPECT_TRUE(larger_is_better("ndcg@5"));
  EXPECT_FALSE(larger_is_better("mape"));
}

}  // namespace
}  // namespace meridian::xgboost
