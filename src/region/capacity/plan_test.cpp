// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/plan.h"

#include <gmock/gmock.h>

namespace meridian::region::capacity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
constexpr base::Timestamp kNow{1'000'000};

std::vector<std::string> granted(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> owners;
  for (const auto& verdict : verdicts)
    if (verdict.granted) owners.push_back(verdict.owner);
  return owners;
}

TEST(PlanGrants, TwoGangsOfAllSlotsRunOneAfterTheOther) {
  auto verdicts =
      plan_grants({{"p", 100}}, {}, {{"a", {{"p", 100}}, 0, 1}, {"b", {{"p", 100}}, 0, 2}}, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("a"));
}

TEST(PlanGrants, PriorityGoesBeforeArrival) {
  auto verdicts =
      plan_grants({{"p", 2}}, {}, {{"a", {{"p", 2}}, 0, 1}, {"b", {{"p", 2}}, 5, 2}}, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("b"));
}

TEST(PlanGrants, NothingOvertakesAGangWhoseTimeIsUnknown) {
  std::vector<Held> held{{"x", {{"p", 6}}, std::nullopt}};
  auto verdicts = plan_grants(
      {{"p", 8}}, held,
      {{"big", {{"p", 4}}, 0, 1}, {"small", {{"p", 1}}, 0, 2, base::Duration(10)}}, kNow);
  EXPECT_THAT(granted(verdicts), IsEmpty());
}

TEST(PlanGrants, AShortGangIsBackfilledWhenItEndsBeforeTheHeadCanStart) {
  std::vector<Held> held{{"x", {{"p", 6}}, kNow + base::Duration(1000)}};
  std::vector<Waiting> waiting{{"big", {{"p", 4}}, 0, 1, base::Duration(5000)},
                               {"short", {{"p", 2}}, 0, 2, base::Duration(1000)},
                               {"long", {{"p", 2}}, 0, 3, base::Duration(10'000)}};
  auto verdicts = plan_grants({{"p", 8}}, held, waiting, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("short"));
  EXPECT_EQ(verdicts[0].expected, kNow + base::Duration(1000));
}

TEST(PlanGrants, AGangOnAnotherPoolIsNotHeldUp) {
  std::vector<Held> held{{"x", {{"p", 8}}, std::nullopt}};
  auto verdicts = plan_grants({{"p", 8}, {"q", 2}}, held,
                              {{"big", {{"p", 4}}, 0, 1}, {"other", {{"q", 2}}, 0, 2}}, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("other"));
}

TEST(PlanGrants, ALongQueueGetsTimesForItsFirstGangsOnly) {
  std::vector<Waiting> waiting;
  for (int i = 0; i < 1000; ++i)
    waiting.push_back({std::to_string(i), {{"p", 8}}, 0, i, base::Duration(1000)});
  auto verdicts = plan_grants({{"p", 8}, {"q", 1}}, {}, waiting, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("0"));
  constexpr int last = static_cast<int>(Plan::kPlanned) - 1;
  EXPECT_EQ(verdicts[last].expected, kNow + base::Duration(1000) * last);
  EXPECT_FALSE(verdicts[last + 1].expected);
}

TEST(PlanGrants, AGangBehindALongQueueDoesNotOvertakeItButOthersDo) {
  std::vector<Waiting> waiting;
  for (int i = 0; i < 300; ++i)
    waiting.push_back({std::to_string(i), {{"p", 5}}, 0, i, base::Duration(1000)});
  waiting.push_back({"small", {{"p", 1}}, 0, 1000, base::Duration(1)});
  waiting.push_back({"elsewhere", {{"q", 1}}, 0, 1001, base::Duration(1)});
  auto verdicts = plan_grants({{"p", 8}, {"q", 1}}, {}, waiting, kNow);
  EXPECT_THAT(granted(verdicts), ElementsAre("0", "elsewhere"));
}

TEST(PlanGrants, AGangOverTwoPoolsWaitsForBoth) {
  std::vector<Held> held{{"x", {{"p", 1}}, kNow + base::Duration(100)},
                         {"y", {{"q", 1}}, kNow + base::Duration(300)}};
  auto verdicts = plan_grants({{"p", 1}, {"q", 1}}, held,
                              {{"both", {{"p", 1}, {"q", 1}}, 0, 1, base::Duration(50)}}, kNow);
  EXPECT_EQ(verdicts[0].expected, kNow + base::Duration(300));
}

TEST(PlanGrants, AnOverdueHolderStillHolds) {
  std::vector<Held> held{{"x", {{"p", 8}}, kNow - base::Duration(1)}};
  EXPECT_THAT(granted(plan_grants({{"p", 8}}, held, {{"a", {{"p", 1}}, 0, 1}}, kNow)), IsEmpty());
}

TEST(PlanReclaim, TakesTheLowestPriorityThenTheYoungestAndNoneInVain) {
  std::vector<Reclaimable> leases{{"old", {{"p", 2}}, -1, kNow},
                                  {"young", {{"p", 2}}, -1, kNow + base::Duration(5)},
                                  {"lower", {{"p", 1}}, -2, kNow},
                                  {"elsewhere", {{"q", 8}}, -9, kNow}};
  EXPECT_THAT(plan_reclaim({{"p", 1}}, leases), ElementsAre("lower"));
  EXPECT_THAT(plan_reclaim({{"p", 2}}, leases), ElementsAre("young"));
  EXPECT_THAT(plan_reclaim({{"p", 4}}, leases), UnorderedElementsAre("old", "young"));
  EXPECT_THAT(plan_reclaim({{"p", 6}}, leases), IsEmpty());
}

}  // namespace
}  // namespace meridian::region::capacity
