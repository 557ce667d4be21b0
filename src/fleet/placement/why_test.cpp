// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fleet/placement/plan.h"
#include "fleet/placement/random_problems.h"

namespace meridian::fleet::placement {
namespace {

using testing::HasSubstr;

// Two regions; the data is in the dearer one.
Problem two_regions() {
  Problem p;
  p.data = {{"s3://d/1", 100, {"home"}}};
  p.regions = {{"home", {{{}, 4, 0}}, {{.type = "ml.a", .price = 10}}},
               {"away", {{{}, 4, 0}}, {{.type = "ml.a", .price = 6}}}};
  p.links = {{"home", "away", 0.02, 100}};
  p.rows = {{.id = "r1", .data = "s3://d/1", .hours = 2, .type = "ml.a", .instances = 2}};
  p.settings.objective = Objective::cost;
  return p;
}

const Candidate& in(const std::vector<Candidate>& all, const std::string& region,
                    Market market = Market::on_demand) {
  return *std::ranges::find_if(
      all, [&](const Candidate& c) { return c.region == region && c.market == market; });
}

TEST(Why, ACopyIsMadeWhereItPays) {
  Problem p = two_regions();  // 2 h x 2 x 4 USD saved, 2 USD for the copy
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.rows[0].region, "away");
  EXPECT_EQ(plan.rows[0].copied_from, "home");
  EXPECT_DOUBLE_EQ(plan.cost.copy, 2);
  EXPECT_DOUBLE_EQ(plan.cost.total(), 26);
  EXPECT_NEAR(plan.rows[0].start, 100'000 / 100.0 / 3'600, 1e-9);
  p.links[0].usd_per_gb = 0.2;  // 20 USD
  EXPECT_EQ(make_plan(p).rows[0].region, "home");
}

TEST(Why, ACopyServesTheRowsThatFollow) {
  Problem p = two_regions();
  p.links[0].usd_per_gb = 0.2;  // too dear for one row
  p.rows.push_back(p.rows[0]);
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.rows[0].region, "away");
  EXPECT_EQ(plan.rows[1].region, "away");
  EXPECT_NE(plan.rows[0].copies, plan.rows[1].copies);
  EXPECT_DOUBLE_EQ(plan.cost.copy, 20);
}

TEST(Why, CopiesOverOneLinkAreMadeOneAfterAnother) {
  Problem p = two_regions();
  p.data.push_back({"s3://d/2", 50, {"home"}});
  p.rows.push_back(p.rows[0]);
  p.rows[1].data = "s3://d/2";
  const Plan plan = make_plan(p);
  const double both = 150'000 / 100.0 / 3'600;  // hours
  EXPECT_NEAR(std::max(plan.rows[0].copy_end, plan.rows[1].copy_end), both, 1e-9);
  EXPECT_NEAR(plan.end, both + 2, 1e-9);
}

TEST(Why, TheTermsOfEveryCandidateAndWhatWouldFlipIt) {
  const Problem p = two_regions();
  const Plan plan = make_plan(p);
  const auto all = explain(p, plan, 0);
  const Candidate &away = in(all, "away"), &home = in(all, "home");
  EXPECT_TRUE(away.chosen);
  EXPECT_DOUBLE_EQ(away.cost.instances, 24);
  EXPECT_DOUBLE_EQ(home.cost.total(), 40);
  EXPECT_EQ(home.ruled_out, "");
  EXPECT_EQ(home.flip, "costs 14.00 USD more: taken if its price fell by 3.50 USD per hour");
}

TEST(Why, ThePriceDifferenceNamedFlipsThePlan) {
  Problem p = two_regions();
  p.regions[0].offers[0].price = 10 - 3.49;
  EXPECT_EQ(make_plan(p).rows[0].region, "away");
  p.regions[0].offers[0].price = 10 - 3.51;
  EXPECT_EQ(make_plan(p).rows[0].region, "home");
}

TEST(Why, WhatRulesACandidateOutIsSaid) {
  Problem p = two_regions();
  p.regions.push_back({"small", {{{}, 2, 1}}, {{.type = "ml.a", .price = 1}}});
  p.regions.push_back({"abroad", {{{}, 9, 0}}, {{.type = "ml.a", .price = 1}}});
  p.regions.push_back({"other", {{{"ml.b"}, 9, 0}}, {}});
  p.regions.push_back({"far", {{{}, 9, 0}}, {{.type = "ml.a", .price = 1}}});
  p.regions.push_back({"dark", {{{}, 9, 0}}, {}});
  p.links.push_back({"home", "dark", 0.02, 100});
  p.regions[0].offers.push_back({.type = "ml.a",
                                 .market = Market::spot,
                                 .zone = "home-a",
                                 .price = 3,
                                 .reclaimed_hours_ago = 0.2});
  p.rows[0].allowed = {"home", "away", "small", "other", "far", "dark"};
  const auto all = explain(p, make_plan(p), 0);
  EXPECT_EQ(in(all, "small").ruled_out, "needs 2 ml.a, has 1");
  EXPECT_EQ(in(all, "abroad").ruled_out, "not one of the allowed regions");
  EXPECT_EQ(in(all, "other").ruled_out, "no ml.a there");
  EXPECT_EQ(in(all, "far").ruled_out, "no price or speed for copying s3://d/1 there");
  EXPECT_EQ(in(all, "dark").ruled_out, "no price");
  EXPECT_EQ(in(all, "home", Market::spot).ruled_out, "reclaimed 12 min ago; avoided for 1.0 h");
}

TEST(Why, ARowBeyondTheBudgetWaits) {
  Problem p = two_regions();
  p.data.clear();
  p.rows[0].data.clear();
  for (int i = 0; i < 2; ++i) p.rows.push_back(p.rows[0]);
  p.settings.hard_usd = 50;  // two rows of 24
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.waiting, 1u);
  const auto& waits = *std::ranges::find(plan.rows, true, &Placement::waits);
  EXPECT_EQ(
      waits.reason,
      "budget: it costs 24.00 USD at least, and 48.00 USD of 50.00 USD are planned for others");
}

TEST(Why, ASoftBudgetIsKeptWhereItCanBeAndElseSaid) {
  Problem p = two_regions();
  p.settings.objective = Objective::time;  // at home at once, for 40 USD
  EXPECT_EQ(make_plan(p).rows[0].region, "home");
  p.settings.soft_usd = 30;
  EXPECT_EQ(make_plan(p).rows[0].region, "away");
  p.settings.soft_usd = 20;
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.rows[0].region, "home");
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_THAT(plan.notes[0], HasSubstr("soft budget of 20.00 USD is passed"));
}

TEST(Why, SpotNearADeadlineLeavesTimeForOnDemand) {
  Problem p = two_regions();
  p.regions.pop_back();
  p.regions[0].offers.push_back(
      {.type = "ml.a", .market = Market::spot, .zone = "home-a", .price = 3});
  p.settings.spot = SpotPolicy::deadline;
  p.settings.checkpoints.restart_hours = 0.5;
  p.settings.deadline_hours = 2.4;  // 2 h of work, and none to begin again
  EXPECT_EQ(make_plan(p).rows[0].market, Market::on_demand);
  p.settings.deadline_hours = 2.5;
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.rows[0].market, Market::spot);
  EXPECT_DOUBLE_EQ(plan.rows[0].on_demand_from.value(), 0);
}

TEST(Why, SpotWithoutAReclaimRateIsSaid) {
  Problem p = two_regions();
  p.regions[0].offers.push_back(
      {.type = "ml.a", .market = Market::spot, .zone = "home-a", .price = 3});
  EXPECT_THAT(
      make_plan(p).notes,
      testing::ElementsAre("spot of ml.a in home has no reclaim rate: no lost work is counted"));
  p.regions[0].offers[1].reclaims_per_hour = 0.05;
  const Plan plan = make_plan(p);
  EXPECT_THAT(plan.notes, testing::IsEmpty());
  EXPECT_GT(plan.cost.lost, 0);
}

TEST(Why, ALateRowWaitsAndSaysSo) {
  Problem p = two_regions();
  p.settings.deadline_hours = 1;
  const Plan plan = make_plan(p);
  EXPECT_EQ(plan.waiting, 1u);
  EXPECT_THAT(
      plan.rows[0].reason,
      HasSubstr("takes 2.0 h if it starts now: 1.0 h more than the deadline leaves (home)"));
}

TEST(Why, TheChosenCandidateHasTheCostOfThePlan) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ProblemMaker maker(seed);
    Problem p = maker.make({.rows = 12, .regions = 4, .data = 3});
    p.settings = maker.make_settings(p);
    const Plan plan = make_plan(p);
    for (std::size_t row = 0; row < p.rows.size(); ++row) {
      const auto all = explain(p, plan, row);
      const auto chosen = std::ranges::count(all, true, &Candidate::chosen);
      EXPECT_EQ(chosen, plan.rows[row].waits ? 0 : 1);
      for (const Candidate& c : all) {
        if (!c.chosen) {
          EXPECT_TRUE(!c.ruled_out.empty() || !c.flip.empty() || plan.rows[row].waits);
          continue;
        }
        EXPECT_EQ(c.ruled_out, "");
        EXPECT_NEAR(c.cost.total(), plan.rows[row].cost.total(), 1e-9);
        EXPECT_EQ(c.start, plan.rows[row].start);
      }
    }
  }
}

TEST(Problem, WrongNamesAndNumbersAreRefused) {
  Problem p = two_regions();
  p.rows[0].data = "s3://nowhere";
  EXPECT_THROW(make_plan(p), base::Error);
  p = two_regions();
  p.links[0].mb_per_second = 0;
  EXPECT_THROW(make_plan(p), base::Error);
  p = two_regions();
  p.regions[0].offers.push_back(p.regions[0].offers[0]);
  EXPECT_THROW(make_plan(p), base::Error);
}

}  // namespace
}  // namespace meridian::fleet::placement
