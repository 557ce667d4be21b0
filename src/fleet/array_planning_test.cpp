// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_planning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fleet/catalog.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using placement::Market;
using testing::ElementsAre;
using testing::HasSubstr;

JsonObject array_spec() {
  return {
      {"rows",
       {{"inline", JsonArray{JsonObject{{"uri", "s3://b/drives/1"}, {"images", 7'200}},
                             JsonObject{{"uri", "s3://b/drives/2"}, {"images", 3'600}}}}}},
      {"key", JsonArray{"uri"}},
      {"placement", "cost"},
      {"template",
       {{"roleArn", "arn:aws:iam::000000000000:role/r"},
        {"algorithmSpecification", {{"trainingImage", "host"}, {"trainingInputMode", "File"}}},
        {"inputDataConfig",
         JsonArray{JsonObject{
             {"channelName", "train"},
             {"dataSource",
              {{"s3DataSource", {{"s3DataType", "S3Prefix"}, {"s3Uri", "$(row.uri)/train/"}}}}}}}},
        {"outputDataConfig", {{"s3OutputPath", "s3://b/out"}}},
        {"resourceConfig",
         {{"instanceType", "ml.p3.16xlarge"}, {"instanceCount", 2}, {"volumeSizeInGB", 1}}},
        {"stoppingCondition", {{"maxRuntimeInSeconds", 1'800}}}}}};
}

class ArrayPlanningTest : public testing::Test {
 protected:
  ArrayPlanningTest() {
    catalog.import("datasets", {.columns = {"uri", "region", "bytes"},
                                .rows = {{"s3://b/drives/1/", "eu-west-1", 50'000'000'000},
                                         {"s3://b/drives/2", "eu-west-1", nullptr}}});
    catalog.import(
        "offers",
        {.columns = {"region", "instance_type", "market", "price", "capacity", "reclaims_per_hour",
                     "reclaimed_at"},
         .rows = {
             {"eu-west-1", "ml.p3.16xlarge", "on-demand", 26.44, nullptr, nullptr, nullptr},
             {"eu-west-1", "ml.p3.16xlarge", "spot", 7.932, nullptr, 0.05, "2026-01-01T11:30:00Z"},
             {"us-east-1", "ml.p3.16xlarge", "on-demand", 24.48, 16, nullptr, nullptr},
             {"us-west-2", "ml.p3.16xlarge", "on-demand", 24.48, nullptr, nullptr, nullptr}}});
    catalog.import("links", {.columns = {"from_region", "to_region", "price_per_gb", "mbit_per_s"},
                             .rows = {{"eu-west-1", "us-east-1", 0.02, 800}}});
  }
  placement::Problem problem_of(const JsonObject& json) {
    spec = parse_array_spec(Json(json));
    plans = plan_rows(spec, *spec.rows.inline_rows, "test");
    const Grounds grounds = read_grounds(catalog.file(), {{"eu-west-1", {{{}, 8, 0}}}}, "default",
                                         "grid", {1'767'268'800'000});  // 2026-01-01T12:00:00Z
    return make_problem(spec, plans, *spec.rows.inline_rows, grounds);
  }
  static std::string refusal(JsonObject json) {
    try {
      parse_array_spec(Json(json));
    } catch (const base::Error& error) {
      return error.message();
    }
    return "";
  }

  base::TempDir dir{"planning"};
  Catalog catalog{dir.path() / "catalog.db"};
  ArraySpec spec;
  std::vector<RowPlan> plans;
};

TEST_F(ArrayPlanningTest, TheCatalogBecomesRegionsOffersAndLinks) {
  const auto problem = problem_of(array_spec());
  ASSERT_EQ(problem.regions.size(), 2u) << "a price alone makes no region of us-west-2";
  EXPECT_EQ(problem.regions[0].name, "eu-west-1");
  EXPECT_EQ(problem.regions[0].pools[0].instances, 8);
  EXPECT_EQ(problem.regions[1].pools[0].instances, 16);
  ASSERT_EQ(problem.regions[0].offers.size(), 2u);
  EXPECT_EQ(problem.regions[0].offers[1].market, Market::spot);
  EXPECT_EQ(problem.regions[0].offers[1].reclaims_per_hour, 0.05);
  EXPECT_DOUBLE_EQ(problem.regions[0].offers[1].reclaimed_hours_ago.value(), 0.5);
  EXPECT_EQ(problem.links[0].mb_per_second, 100);
}

TEST_F(ArrayPlanningTest, ARowsDataIsTheDataSetThatItsChannelLiesIn) {
  const auto problem = problem_of(array_spec());
  EXPECT_EQ(problem.rows[0].data, "s3://b/drives/1");
  EXPECT_EQ(problem.data[0].gigabytes, 50);
  EXPECT_THAT(problem.data[0].regions, ElementsAre("eu-west-1"));
  EXPECT_FALSE(problem.data[1].gigabytes) << "not known: never guessed";
  const auto plan = make_plan(problem);
  const auto answer = describe_plan(problem, plan, {"s3://b/drives/2"});
  EXPECT_THAT(base::to_text(answer),
              HasSubstr("s3://b/drives/2 is not there, and its size is not known"));
}

TEST_F(ArrayPlanningTest, HoursComeFromWorkElseFromTheTimeLimit) {
  EXPECT_DOUBLE_EQ(problem_of(array_spec()).rows[0].hours, 0.5);
  JsonObject json = array_spec();
  json["work"] = {{"images", "$(row.images)"}, {"epochs", 10}};
  json["stepModel"] = {{"imagesPerSecond", 10}, {"batch", 100}};
  const auto problem = problem_of(json);
  ASSERT_TRUE(problem.rows[0].images_per_second);
  EXPECT_NEAR(*problem.rows[0].images_per_second, 20, 0.01);  // two instances, nothing to reduce
  EXPECT_NEAR(problem.rows[0].hours, 1, 0.01);
  EXPECT_NEAR(problem.rows[1].hours, 0.5, 0.01);
  json["work"] = {{"seconds", 900}};
  EXPECT_DOUBLE_EQ(problem_of(json).rows[0].hours, 0.25);
}

TEST_F(ArrayPlanningTest, WhatEarlierRowsReachedGoesBeforeTheModel) {
  catalog.write_results({{.ns = "default",
                          .array = "grid",
                          .key = "a",
                          .state = "Succeeded",
                          .started_ms = 0,
                          .ended_ms = 600'000,
                          .metrics = R"({"images_per_second": 40})"}});
  EXPECT_NEAR(problem_of(array_spec()).rows[0].hours, 600 / 3'600.0, 1e-9);
  JsonObject json = array_spec();
  json["work"] = {{"images", "$(row.images)"}};
  json["stepModel"] = {{"imagesPerSecond", 10}, {"batch", 100}};
  EXPECT_NEAR(problem_of(json).rows[0].hours, 7'200 / 40.0 / 3'600, 1e-9);
}

TEST_F(ArrayPlanningTest, APlanGivesJobsTheirRegionAndAsksForSpot) {
  JsonObject json = array_spec();
  json["spot"] = "whenItPays";
  auto problem = problem_of(json);
  problem.settings.avoid_hours = 0.1;  // the last reclaim is half an hour old
  apply_plan(make_plan(problem), plans);
  EXPECT_EQ(plans[1].region, "eu-west-1");
  EXPECT_EQ(plans[1].request["EnableManagedSpotTraining"], Json(true));
  EXPECT_EQ(base::int_or(plans[1].request["StoppingCondition"], "MaxWaitTimeInSeconds", 0), 3'600);
}

TEST_F(ArrayPlanningTest, DeadlinesAreTimesOrDurations) {
  JsonObject json = array_spec();
  json["deadline"] = "90m";
  EXPECT_DOUBLE_EQ(problem_of(json).settings.deadline_hours.value(), 1.5);
  json["deadline"] = "2026-01-01T18:00:00Z";
  EXPECT_DOUBLE_EQ(problem_of(json).settings.deadline_hours.value(), 6);
  json["deadline"] = "soon";
  EXPECT_THAT(refusal(json), HasSubstr("spec.deadline: 'soon' is neither"));
}

TEST_F(ArrayPlanningTest, WhatCannotBeMeantIsRefusedWithItsPath) {
  JsonObject json = array_spec();
  json["placement"] = "cheap";
  EXPECT_EQ(refusal(json), "spec.placement: 'cheap' is none of cost, data, pinned, time");
  json = array_spec();
  json["budget"] = {{"hard", "lots"}};
  EXPECT_EQ(refusal(json), "spec.budget.hard: 'lots' is not a number of 0 or more");
  json = array_spec();
  json["template"].as_object()["region"] = "us-east-1";
  EXPECT_THAT(refusal(json), HasSubstr("spec.template.region fixes the region"));
  json = array_spec();
  json["spot"] = "deadline";
  EXPECT_EQ(refusal(json), "spec.spot: 'deadline' needs a spec.deadline");
}

}  // namespace
}  // namespace meridian::fleet
