// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/capacity.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/json.h"

namespace meridian::region::capacity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CapacityTest : public testing::Test {
 protected:
  Lease ask(const std::string& owner, int count) {
    return capacity_.request({.owner = owner, .instances = {{"ml.m5.large", count}}});
  }
  std::unique_ptr<store::Store> store_ = store::open_in_memory();
  base::ManualClock clock_;
  Capacity capacity_{*store_, clock_, "000000000000/us-west-2", {{.name = "default", .count = 8}}};
};

TEST_F(CapacityTest, AskingTwiceIsAskingOnce) {
  EXPECT_EQ(ask("training/a", 3).slots, ask("training/a", 3).slots);
  EXPECT_EQ(ask("training/b", 5).state, Lease::State::granted);
}

TEST_F(CapacityTest, AWaitingGangHoldsNothingAndSaysWhoHolds) {
  ask("training/a", 6);
  Lease lease = ask("training/b", 4);
  EXPECT_EQ(lease.state, Lease::State::waiting);
  EXPECT_EQ(lease.reason, "requested 4, free 2 of 8; held by training/a (6)");
  EXPECT_THAT(lease.slots, IsEmpty());
  EXPECT_THAT(capacity_.waiting_owners(), ElementsAre("training/b"));
}

TEST_F(CapacityTest, AGangInALongQueueIsToldTheFirstOfThoseAheadAndHowManyMore) {
  ask("training/holder", 8);
  for (int i = 0; i < 100; ++i) ask("training/" + std::to_string(i), 1);
  EXPECT_EQ(ask("training/last", 2).reason,
            "requested 2, free 0 of 8; held by training/holder (8); behind training/0, training/1, "
            "training/2, training/3, training/4, 95 more");
}

TEST_F(CapacityTest, AReleaseLetsTheNextIn) {
  ask("training/a", 6);
  ask("training/b", 4);
  ASSERT_TRUE(store_->commit({capacity_.release("training/a")}));
  EXPECT_EQ(ask("training/b", 4).state, Lease::State::granted);
  EXPECT_THAT(capacity_.waiting_owners(), IsEmpty());
}

TEST_F(CapacityTest, WhatIsHandedOverStaysTakenAndChangesItsOwner) {
  auto slots = ask("training/a", 6).slots;
  ask("training/b", 4);
  ASSERT_TRUE(store_->commit(capacity_.hand_over("training/a", "warm/a", std::nullopt)));
  EXPECT_FALSE(capacity_.find("training/a"));
  EXPECT_EQ(capacity_.find("warm/a")->slots, slots);
  EXPECT_EQ(ask("training/b", 4).reason, "requested 4, free 2 of 8; held by warm/a (6)");
  EXPECT_THAT(capacity_.hand_over("training/b", "warm/b", std::nullopt), IsEmpty());
}

TEST_F(CapacityTest, AGangAboveThePoolIsRefusedWithBothNumbers) {
  try {
    ask("training/a", 128);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::resource_exhausted);
    EXPECT_THAT(error.message(), HasSubstr("requested 128, pool has 8; set pools.default.count"));
  }
}

TEST_F(CapacityTest, AThousandShortJobsLeaveNothingBehind) {
  for (int i = 0; i < 1000; ++i) {
    std::string owner = "training/j" + std::to_string(i);
    ASSERT_EQ(ask(owner, 8).state, Lease::State::granted);
    ASSERT_TRUE(store_->commit({capacity_.release(owner)}));
  }
  const base::Json snapshot = capacity_.snapshot();
  EXPECT_EQ(base::find_path(snapshot, "pools")->at(0).at("used").to_number<int>(), 0);
}

TEST_F(CapacityTest, RacingGrantsNeverShareASlot) {
  std::vector<Lease> leases(8);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] { leases[i] = ask("training/r" + std::to_string(i), 2); });
  }
  std::set<int> seen;
  int granted = 0;
  for (const Lease& lease : leases) {
    granted += lease.state == Lease::State::granted;
    for (int slot : lease.slots) EXPECT_TRUE(seen.insert(slot).second) << slot;
  }
  EXPECT_EQ(granted, 4);
}

TEST(CapacityPools, GpusAreWholeDevicesOfTheSlots) {
  auto store = store::open_in_memory();
  base::ManualClock clock;
  Capacity capacity(*store, clock, "a/r",
                    {{.name = "gpu", .types = {"ml.p3.8xlarge"}, .count = 2, .gpus = 4}});
  EXPECT_THAT(capacity.request({.owner = "x", .instances = {{"ml.p3.8xlarge", 1}}}).gpus,
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(capacity.request({.owner = "y", .instances = {{"ml.p3.8xlarge", 1}}}).gpus,
              ElementsAre(4, 5, 6, 7));
  EXPECT_THROW(capacity.pool_of("ml.m5.large"), base::Error);
}

TEST(InstanceTypes, KnowTheirSizeAndSayWhereAPriceComesFrom) {
  auto type = find_instance_type("ml.p3.16xlarge");
  ASSERT_TRUE(type);
  EXPECT_EQ(type->cpus, 64);
  EXPECT_EQ(type->gpus, 8);
  EXPECT_EQ(type->price_per_hour, 24.48);
  EXPECT_THAT(type->price_source, HasSubstr("2022"));
  EXPECT_FALSE(find_instance_type("ml.m5.large")->price_per_hour);
  EXPECT_FALSE(find_instance_type("ml.x99.large"));
  EXPECT_EQ(find_list_price("ml.p2.xlarge", "eu-central-1")->on_demand, 1.326);
}

TEST(CpuShare, IsTheRealShareAndAtLeastOne) {
  Pool pool{.name = "default"};
  EXPECT_EQ(cpu_share(pool, "ml.m5.4xlarge", 2, 8), 4);
  EXPECT_EQ(cpu_share(pool, "ml.m5.4xlarge", 16, 2), 1);
  EXPECT_EQ(cpu_share(pool, "ml.m5.large", 1, 64), 2);
  pool.cpus = 3;
  EXPECT_EQ(cpu_share(pool, "ml.m5.large", 1, 64), 3);
}

}  // namespace
}  // namespace meridian::region::capacity
