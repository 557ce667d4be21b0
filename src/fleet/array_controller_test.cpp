// SPDX-License-Identifier: Apache-2.0
#include "fleet/array_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fleet/database.h"
#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/test_bed.h"

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class ArrayControllerTest : public testing::Test, public operators::TestBed {
 protected:
  ArrayControllerTest() { restart(); }

  // A new process: what is not in the store is forgotten.
  void restart() {
    controller = std::make_unique<ArrayController>(
        ArrayParts{
            api, remotes, feed, events, *store, catalog, clock,
            [this](const std::string& uri) { return objects.at(uri); },
            [] { return RegionPools{{"us-west-2", {{{}, 8, 0}}}, {"eu-west-1", {{{}, 8, 0}}}}; }},
        ArraySettings{.installation = "home", .campaigns = {}},
        [this](const kube::ObjectKey& name) { return api.find(array_resource(), name); });
    if (started) return;
    started = true;
    steps.add(std::string(ArrayController::kStep),
              [this](const control::Key& key) { return controller->step(key); });
  }

  static JsonArray rows(int count) {
    JsonArray list;
    for (int i = 0; i < count; ++i)
      list.push_back(JsonObject{{"region", i % 2 == 0 ? "us-west-2" : "eu-west-1"}, {"id", i}});
    return list;
  }
  static JsonObject spec_of(JsonArray list) {
    return {
        {"rows", {{"inline", std::move(list)}}},
        {"key", JsonArray{"id"}},
        {"template",
         {{"region", "$(row.region)"},
          {"roleArn", "arn:aws:iam::000000000000:role/r"},
          {"algorithmSpecification", {{"trainingImage", "host"}, {"trainingInputMode", "File"}}},
          {"outputDataConfig", {{"s3OutputPath", "s3://b/out"}}},
          {"resourceConfig",
           {{"instanceType", "ml.m5.large"}, {"instanceCount", 1}, {"volumeSizeInGB", 1}}},
          {"stoppingCondition", {{"maxRuntimeInSeconds", 60}}},
          {"hyperParameters", JsonArray{JsonObject{{"name", "id"}, {"value", "$(row.id)"}}}}}}};
  }
  Json apply(JsonObject spec) {
    return api.create(array_resource(), {{"apiVersion", "meridian.dev/v1alpha1"},
                                         {"kind", "TrainingArray"},
                                         {"metadata", {{"name", "grid"}, {"namespace", "default"}}},
                                         {"spec", std::move(spec)}});
  }
  Json look(int seconds = 2) {
    runner.add(key);
    runner.run_for(base::Duration(seconds * 1'000));
    return shown();
  }
  Json shown() { return api.get(array_resource(), {"default", "grid"}); }
  std::int64_t status(std::string_view field) {
    const Json object = shown();
    return base::int_or(*base::find(object, "status"), field, -1);
  }
  std::string phase() {
    const Json object = shown();
    return base::string_or(*base::find(object, "status"), "phase");
  }
  // Names of the region's jobs in this status, in the order of rows.
  std::vector<std::string> jobs() {
    std::vector<std::string> names;
    const Table table = query({.database = {}, .catalog = catalog.file()},
                              "SELECT job FROM array_results WHERE job <> '' ORDER BY row");
    for (const JsonArray& row : table.rows) names.push_back(text_of(row[0]));
    return names;
  }
  void end(const std::string& job, const std::string& status, JsonObject more = {}) {
    clock.advance(base::Duration(1'000));
    remotes.put(job, status, std::move(more));
  }

  base::TempDir dir{"arrays"};
  std::unique_ptr<store::Store> store = store::open_in_memory();
  Catalog catalog{dir.path() / "catalog.db"};
  std::map<std::string, std::string> objects;
  std::unique_ptr<ArrayController> controller;
  bool started = false;
  const control::Key key = "trainingarrays/default/grid";
};

TEST_F(ArrayControllerTest, EachRowIsAJobInItsRegionAndTheArrayIsComplete) {
  apply(spec_of(rows(3)));
  look();
  ASSERT_EQ(jobs().size(), 3u);
  EXPECT_EQ(status("running"), 3);
  JsonObject& job = remotes.job(jobs()[1]);
  EXPECT_THAT(base::to_text(job["Tags"]), HasSubstr("home/default/TrainingArray/grid/"));
  EXPECT_EQ(job["HyperParameters"], (Json{{"id", "1"}}));
  for (const std::string& name : jobs())
    end(name, "Completed",
        {{"BillableTimeInSeconds", 7},
         {"FinalMetricDataList", JsonArray{JsonObject{{"MetricName", "acc"}, {"Value", 0.9}}}}});
  look(4);
  EXPECT_EQ(phase(), "Completed");
  EXPECT_EQ(operators::condition_status(shown(), "Complete"), "True");
  EXPECT_EQ(query({.database = {}, .catalog = catalog.file()},
                  "SELECT key, region, state, billable_seconds, metrics ->> 'acc' AS acc "
                  "FROM array_results WHERE row = 1")
                .rows,
            (std::vector{JsonArray{"1", "eu-west-1", "Succeeded", 7, 0.9}}));
}

JsonObject planned_spec(JsonObject spec) {
  spec["placement"] = "cost";
  spec["template"].as_object().erase("region");
  return spec;
}

Table offers(double us_west_2, double eu_west_1) {
  return {.columns = {"region", "instance_type", "market", "price"},
          .rows = {{"us-west-2", "ml.m5.large", "on-demand", us_west_2},
                   {"eu-west-1", "ml.m5.large", "on-demand", eu_west_1}}};
}

JsonArray ids(int count) {
  JsonArray list;
  for (int i = 0; i < count; ++i) list.push_back(JsonObject{{"id", i}});
  return list;
}

TEST_F(ArrayControllerTest, RowsWithoutARegionGoWhereThePlanSays) {
  catalog.import("offers", offers(1.0, 0.1));
  apply(planned_spec(spec_of(ids(2))));
  look();
  ASSERT_EQ(jobs().size(), 2u);
  EXPECT_EQ(query({.database = {}, .catalog = catalog.file()},
                  "SELECT DISTINCT region FROM array_results")
                .rows,
            (std::vector{JsonArray{"eu-west-1"}}));
}

TEST_F(ArrayControllerTest, AnotherPlanDoesNotRunARowAgainThatSucceeded) {
  catalog.import("offers", offers(1.0, 0.1));
  apply(planned_spec(spec_of(ids(2))));
  look();
  const auto first = jobs();
  end(first[0], "Completed");
  end(first[1], "Failed");
  look(4);
  catalog.import("offers", offers(0.1, 1.0));
  api.patch(array_resource(), {"default", "grid"}, kube::PatchType::merge,
            {{"metadata", {{"annotations", {{"meridian.dev/retry", "1"}}}}}});
  look(4);
  EXPECT_EQ(jobs()[0], first[0]);
  EXPECT_NE(jobs()[1], first[1]);
  EXPECT_EQ(query({.database = {}, .catalog = catalog.file()},
                  "SELECT region FROM array_results ORDER BY row")
                .rows,
            (std::vector{JsonArray{"eu-west-1"}, JsonArray{"us-west-2"}}));
}

TEST_F(ArrayControllerTest, PinnedRowsKeepABudgetToo) {
  catalog.import("offers", offers(60, 120));  // a minute costs 1 and 2 USD
  JsonObject spec = spec_of(rows(4));         // in the one and the other in turns
  spec["budget"] = {{"hard", 4}};
  apply(spec);
  look();
  EXPECT_EQ(query({.database = {}, .catalog = catalog.file()},
                  "SELECT state, count(*) AS n FROM array_results GROUP BY state ORDER BY state")
                .rows,
            (std::vector{JsonArray{"Pending", 1}, JsonArray{"Running", 3}}));
}

TEST_F(ArrayControllerTest, WhatTheBudgetDoesNotAdmitWaitsUntilItDoes) {
  catalog.import("offers", offers(60, 60));  // a minute costs 1 USD
  JsonObject spec = planned_spec(spec_of(ids(3)));
  spec["budget"] = {{"hard", 2.5}};
  apply(spec);
  look();
  ASSERT_EQ(jobs().size(), 2u);
  const Json object = shown();
  EXPECT_THAT(base::string_or(*base::find(object, "status"), "waitingFor"),
              HasSubstr("1 rows have no place: budget: it costs 1.00 USD at least"));
  restart();
  look();
  EXPECT_EQ(jobs().size(), 2u);
  for (const std::string& job : jobs())
    end(job, "Completed", {{"Meridian", {{"Cost", {{"Usd", 0.25}}}}}});
  look(70);  // less was spent than planned
  EXPECT_EQ(jobs().size(), 3u);
}

TEST_F(ArrayControllerTest, ALaterRunLaunchesOnlyWhatIsNewChangedOrFailed) {
  apply(spec_of(rows(4)));
  look();
  const auto first = jobs();
  for (int i = 0; i < 4; ++i) end(first[i], i == 3 ? "Failed" : "Completed");
  look(4);
  EXPECT_EQ(phase(), "Failed");
  JsonArray next = rows(5);                        // one more
  next[0].as_object()["region"] = "eu-central-1";  // one changed
  Json object = shown();
  object.as_object()["spec"] = spec_of(std::move(next));  // and the failed one
  api.update(array_resource(), object);
  look(4);
  const auto second = jobs();
  EXPECT_EQ(remotes.calls["CreateTrainingJob"], 4 + 3);
  EXPECT_EQ(second[1], first[1]);
  EXPECT_EQ(second[2], first[2]);
  EXPECT_THAT(second[0], testing::EndsWith("-2"));
  EXPECT_THAT(second[3], testing::EndsWith("-2"));
  EXPECT_THAT(second[4], testing::EndsWith("-1"));
}

TEST_F(ArrayControllerTest, ARetryRunsTheFailedRowsAgain) {
  apply(spec_of(rows(2)));
  look();
  end(jobs()[0], "Completed");
  end(jobs()[1], "Failed", {{"FailureReason", "AlgorithmError: no"}});
  look(4);
  Json object = shown();
  EXPECT_THAT(base::to_text(*base::find_path(object, "status.firstFailures")),
              HasSubstr("AlgorithmError: no"));
  kube::set_annotation(object, kRetryAnnotation, "1");
  api.update(array_resource(), object);
  look(2);
  EXPECT_EQ(remotes.calls["CreateTrainingJob"], 3);
  end(jobs()[1], "Completed");
  look(4);
  EXPECT_EQ(phase(), "Completed");
}

TEST_F(ArrayControllerTest, ACrashBetweenIntentAndAnswerMakesNoSecondJob) {
  apply(spec_of(rows(1)));
  remotes.forget_answer = true;  // heard, but the answer is lost
  look(1);
  restart();
  look(20);
  EXPECT_EQ(remotes.size(), 1u);
  EXPECT_EQ(status("running"), 1);
  EXPECT_THAT(jobs()[0], testing::EndsWith("-1"));
}

TEST_F(ArrayControllerTest, ARestartFindsTheRowsAndFollowsThem) {
  apply(spec_of(rows(3)));
  look();
  const auto before = jobs();
  restart();
  look();
  EXPECT_EQ(jobs(), before);
  EXPECT_EQ(remotes.calls["CreateTrainingJob"], 3);
  for (const std::string& name : before) end(name, "Completed");
  look(4);
  EXPECT_EQ(phase(), "Completed");
}

TEST_F(ArrayControllerTest, ARegionThatDoesNotAnswerIsAskedAgainLater) {
  apply(spec_of(rows(1)));
  remotes.fail_all = aws::ApiError("ServiceUnavailable", "not now", 503);
  look();
  const Json waiting = shown();
  EXPECT_THAT(base::to_text(*base::find_path(waiting, "status.waitingFor")), HasSubstr("not now"));
  remotes.fail_all.reset();
  look(10);
  EXPECT_EQ(status("running"), 1);
}

TEST_F(ArrayControllerTest, AJobThatTheRegionRefusesFailsItsRowOnly) {
  apply(spec_of(rows(2)));
  remotes.fail_next_create = aws::ApiError("ValidationException", "no such image", 400);
  look();
  EXPECT_EQ(status("failed"), 1);
  EXPECT_EQ(status("running"), 1);
}

TEST_F(ArrayControllerTest, ADeletedArrayStopsItsJobsAndLeavesNothing) {
  apply(spec_of(rows(2)));
  look();
  const auto names = jobs();
  api.remove(array_resource(), {"default", "grid"});
  look();
  for (const std::string& name : names) {
    EXPECT_EQ(remotes.job(name)["TrainingJobStatus"], "Stopping");
    end(name, "Stopped");
  }
  runner.add(key);
  runner.run_for(base::Duration(5'000));
  EXPECT_FALSE(api.find(array_resource(), {"default", "grid"}));
  EXPECT_EQ(store->list({.prefix = "fleet/"}).documents.size(), 0u);
  EXPECT_EQ(jobs().size(), 0u);
}

TEST_F(ArrayControllerTest, ASuspendedArrayStopsAndGoesOnLater) {
  apply(spec_of(rows(1)));
  look();
  Json object = shown();
  object.as_object()["spec"].as_object()["suspend"] = true;
  api.update(array_resource(), object);
  look();
  end(jobs()[0], "Stopped");
  look(4);
  EXPECT_EQ(phase(), "Suspended");
  object = shown();
  object.as_object()["spec"].as_object()["suspend"] = false;
  api.update(array_resource(), object);
  look(4);
  EXPECT_EQ(status("running"), 1);
  EXPECT_THAT(jobs()[0], testing::EndsWith("-2"));
}

TEST_F(ArrayControllerTest, WhatIsWrongWithTheSpecIsItsCondition) {
  JsonObject spec = spec_of(rows(2));
  spec["rows"] = JsonObject{{"sql", "SELECT a FROM nowhere"}};
  apply(spec);
  Json object = look();
  EXPECT_EQ(operators::condition_status(object, "Failed"), "True");
  EXPECT_THAT(base::to_text(*base::find_path(object, "status.conditions")),
              HasSubstr("no such table: nowhere"));
  const auto events = event_reasons().size();
  look(5);
  EXPECT_EQ(event_reasons().size(), events) << "said once";
  object = shown();
  object.as_object()["spec"] = spec_of(rows(1));
  api.update(array_resource(), object);
  look();
  EXPECT_EQ(status("running"), 1);
}

TEST_F(ArrayControllerTest, AManifestOfTheArticlesFormIsRead) {
  objects["s3://b/array.txt"] = "us-west-2,s3://b/x\neu-west-1, s3://b/y\n";
  JsonObject spec = spec_of({});
  spec["rows"] = JsonObject{{"manifest", "s3://b/array.txt"}};
  spec.erase("key");
  spec["template"].as_object()["hyperParameters"].as_array()[0].as_object()["value"] =
      "$(row.s3_location)";
  apply(spec);
  look();
  EXPECT_EQ(status("rows"), 2);
  EXPECT_EQ(remotes.job(jobs()[1])["HyperParameters"], (Json{{"id", "s3://b/y"}}));
}

TEST(PlanRows, TwoRowsOfOneKeyAndUnknownFieldsAreRefused) {
  const auto refusal = [](const Json& text) {
    try {
      const ArraySpec spec = parse_array_spec(text);
      plan_rows(spec, *spec.rows.inline_rows, "u");
      return std::string();
    } catch (const base::Error& error) {
      return std::string(error.what());
    }
  };
  const Json twice{{"rows", {{"inline", JsonArray{JsonObject{{"id", 1}}, JsonObject{{"id", 1}}}}}},
                   {"template", {{"region", "us-west-2"}}}};
  EXPECT_THAT(refusal(twice), HasSubstr("row 1"));
  const Json unknown{{"rows", {{"inline", JsonArray{JsonObject{{"id", 1}}}}}},
                     {"template", {{"region", "us-west-2"}, {"instances", 2}}}};
  EXPECT_THAT(refusal(unknown), HasSubstr("spec.template: unknown field 'instances'"));
}

TEST(JobName, HoldsRowAndAttemptWithinTheLimit) {
  EXPECT_EQ(job_name("grid", "0123456789ab", 2), "grid-0123456789ab-2");
  EXPECT_EQ(job_name(std::string(100, 'x'), "0123456789ab", 10).size(), 63u);
  EXPECT_EQ(job_name("a.b.", "0123456789ab", 1), "a-b-0123456789ab-1");
}

}  // namespace
}  // namespace meridian::fleet
