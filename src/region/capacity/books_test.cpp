// The table in memory against the documents it stands for.
//
// SPDX-License-Identifier: Apache-2.0
#include "region/capacity/books.h"

#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/json.h"

namespace meridian::region::capacity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kPrefix = "000000000000/us-west-2";
const std::vector<Pool> kPools{{.name = "default", .count = 8},
                               {.name = "gpu", .types = {"ml.p3.2xlarge"}, .count = 3, .gpus = 1}};

// A store that counts what is asked of it, and fails when told to.
class WatchedStore final : public store::Store {
 public:
  explicit WatchedStore(std::size_t log_entries = 200'000)
      : inner_(store::open_in_memory(log_entries)) {}
  store::CommitResult commit(std::vector<store::Write> writes) override {
    ++commits;
    if (auto before = std::exchange(before_commit, nullptr)) before();
    if (fails) throw base::Error(base::Code::resource_exhausted, "no space");
    return inner_->commit(std::move(writes));
  }
  std::optional<store::Document> find(const std::string& key) override {
    ++reads;
    return inner_->find(key);
  }
  store::Page list(const store::ListQuery& query) override {
    ++reads;
    return inner_->list(query);
  }
  std::unique_ptr<store::Watch> watch(std::string prefix, store::Revision after) override {
    return inner_->watch(std::move(prefix), after);
  }
  store::Revision revision() override { return inner_->revision(); }

  int commits = 0, reads = 0;
  bool fails = false;
  std::function<void()> before_commit;

 private:
  std::unique_ptr<store::Store> inner_;
};

std::vector<Record> records(store::Store& store) {
  std::vector<Record> found;
  for (const auto& document :
       store.list({.prefix = kPrefix + "/capacity/lease/", .limit = 100'000}).documents)
    found.push_back(decode(document));
  return found;
}

class BooksTest : public testing::Test {
 protected:
  Lease ask(const std::string& owner, int count, std::string type = "ml.m5.large") {
    return capacity_->request({.owner = owner, .instances = {{type, count}}});
  }
  void restart() { capacity_ = std::make_unique<Capacity>(store_, clock_, kPrefix, kPools); }

  WatchedStore store_;
  base::ManualClock clock_;
  std::unique_ptr<Capacity> capacity_ = std::make_unique<Capacity>(store_, clock_, kPrefix, kPools);
};

TEST_F(BooksTest, WithTenThousandWaitingARequestReadsNothingAndCommitsOnce) {
  ask("training/holder", 8);
  std::vector<store::Write> writes;
  for (int i = 0; i < 10'000; ++i) {
    const std::string owner = "training/w" + std::to_string(i);
    writes.push_back(
        store::put(kPrefix + "/capacity/lease/" + owner,
                   encode({.owner = owner, .instances = {{"ml.m5.large", 1}}, .arrival = 10 + i})));
  }
  ASSERT_TRUE(store_.commit(std::move(writes)));
  restart();
  store_.commits = store_.reads = 0;
  const Lease lease = ask("training/last", 2);
  EXPECT_EQ(lease.state, Lease::State::waiting);
  EXPECT_THAT(lease.reason, testing::HasSubstr("training/w4, 9995 more"));
  EXPECT_EQ(store_.commits, 1);
  ask("training/last", 2);
  EXPECT_EQ(capacity_->find("training/last")->reason, "pool default: " + lease.reason.substr(14));
  EXPECT_EQ(store_.commits, 1);
  EXPECT_EQ(store_.reads, 0);
}

TEST_F(BooksTest, ARestartFindsTheSameLeasesInTheSameOrder) {
  ask("training/a", 6);
  ask("training/b", 4);
  ask("training/c", 2, "ml.p3.2xlarge");
  ask("training/d", 1);
  const std::string before = base::to_text(capacity_->snapshot());
  restart();
  EXPECT_EQ(base::to_text(capacity_->snapshot()), before);
  ask("training/e", 1);
  EXPECT_THAT(capacity_->waiting_owners(), ElementsAre("training/b", "training/d", "training/e"));
}

TEST_F(BooksTest, AGrantWhoseCommitFailsIsTakenBack) {
  store_.fails = true;
  EXPECT_THROW(ask("training/a", 8), base::Error);
  EXPECT_THROW(ask("training/a", 8), base::Error);
  store_.fails = false;
  EXPECT_FALSE(capacity_->find("training/a"));
  EXPECT_EQ(ask("training/b", 8).state, Lease::State::granted);
}

TEST_F(BooksTest, AWaitingGangWhoseGrantFailsWaitsOnInItsPlace) {
  ask("training/a", 8);
  ask("training/b", 8);
  ask("training/c", 8);
  ASSERT_TRUE(store_.commit({capacity_->release("training/a")}));
  store_.fails = true;
  EXPECT_THROW(ask("training/b", 8), base::Error);
  store_.fails = false;
  EXPECT_THAT(capacity_->waiting_owners(), ElementsAre("training/b", "training/c"));
  EXPECT_EQ(ask("training/b", 8).state, Lease::State::granted);
}

TEST_F(BooksTest, AClaimIsWrittenWithItsAskersDocumentOrNotAtAll) {
  const LeaseRequest request{.owner = "training/a", .instances = {{"ml.m5.large", 8}}};
  {
    auto claim = capacity_->claim(request);
    EXPECT_EQ(claim.lease().state, Lease::State::granted);
    EXPECT_EQ(ask("training/b", 1).state, Lease::State::waiting);  // taken while it is under way
    EXPECT_FALSE(capacity_->find("training/a"));
  }
  EXPECT_EQ(ask("training/b", 1).state, Lease::State::granted);
  ASSERT_TRUE(store_.commit({capacity_->release("training/b")}));
  auto claim = capacity_->claim(request);
  auto writes = claim.writes();
  writes.push_back(store::put("job/a", "{}"));
  claim.settle(*store_.commit(std::move(writes)));
  EXPECT_EQ(capacity_->find("training/a")->state, Lease::State::granted);
  EXPECT_THAT(capacity_->claim(request).writes(), IsEmpty());
  EXPECT_EQ(records(store_).size(), 1u);
}

TEST_F(BooksTest, WhatIsCommittedElsewhereCountsAtTheNextCall) {
  ask("training/a", 8);
  ASSERT_TRUE(store_.commit({store::remove(kPrefix + "/capacity/lease/training/a")}));
  EXPECT_FALSE(capacity_->find("training/a"));
  ASSERT_TRUE(store_.commit({store::put(
      kPrefix + "/capacity/lease/training/x",
      encode({.owner = "training/x", .granted = true, .slots = {{"default", {0, 1, 2}}}}))}));
  EXPECT_THAT(ask("training/b", 2).slots, ElementsAre(3, 4));
}

TEST_F(BooksTest, ALeaseChangedDuringItsCommitIsAskedForAgain) {
  ask("training/a", 8);
  ask("training/b", 8);
  ASSERT_TRUE(store_.commit({capacity_->release("training/a")}));
  store_.before_commit = [&] {
    ASSERT_TRUE(store_.commit({capacity_->release("training/b")}));
    EXPECT_THAT(capacity_->waiting_owners(), IsEmpty());  // looks while the grant is under way
  };
  EXPECT_EQ(ask("training/b", 8).state, Lease::State::granted);
  EXPECT_EQ(records(store_).size(), 1u);
}

TEST(BooksOfAShortLog, AreLoadedAgainWhenTheyLostTrack) {
  WatchedStore store(10);
  base::ManualClock clock;
  Capacity capacity(store, clock, kPrefix, kPools);
  capacity.request({.owner = "training/a", .instances = {{"ml.m5.large", 8}}});
  ASSERT_TRUE(store.commit({capacity.release("training/a")}));
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(store.commit({store::put("other/" + std::to_string(i), "{}")}));
  const Lease lease = capacity.request({.owner = "training/b", .instances = {{"ml.m5.large", 8}}});
  EXPECT_EQ(lease.state, Lease::State::granted);
}

TEST_F(BooksTest, ASpotLeaseOfLowerPriorityIsTakenBackForTheHeadOfTheQueueOnly) {
  const auto spot = [&](const std::string& owner, int count) {
    return capacity_->request({.owner = owner,
                               .instances = {{"ml.m5.large", count}},
                               .priority = -1,
                               .reclaimable = true});
  };
  ASSERT_EQ(spot("training/spot-1", 4).state, Lease::State::granted);
  ASSERT_EQ(ask("training/fixed", 2).state, Lease::State::granted);
  ASSERT_EQ(spot("training/spot-2", 2).state, Lease::State::granted);
  EXPECT_THAT(spot("training/spot-3", 8).reclaim, IsEmpty());  // not from its like
  EXPECT_THAT(ask("training/big", 8).reclaim, IsEmpty());      // would not be enough
  ASSERT_TRUE(store_.commit({capacity_->release("training/big")}));
  const Lease head = ask("training/head", 3);
  EXPECT_THAT(head.reclaim, ElementsAre("training/spot-1"));
  EXPECT_THAT(head.reason, testing::EndsWith("; taking back training/spot-1"));
  EXPECT_THAT(ask("training/next", 1).reclaim, IsEmpty());
  EXPECT_THAT(capacity_->ready_owners(), ElementsAre("training/head"));
  ASSERT_TRUE(store_.commit({capacity_->release("training/spot-1")}));
  EXPECT_EQ(ask("training/head", 3).state, Lease::State::granted);
}

// Random requests, releases, restarts and hours that pass: at each instant, who is let in is what
// the plan from scratch says, and no slot is held twice.
TEST_F(BooksTest, AreAlwaysWhatThePlanFromScratchSays) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int step = 0; step < 150; ++step) {
    const auto all = records(store_);
    std::vector<Held> held;
    std::vector<Waiting> waiting;
    std::map<std::string, std::set<int>> taken;
    const auto pool_of = [](const std::string& type) { return type == "ml.p3.2xlarge" ? 1 : 0; };
    for (const Record& record : all) {
      Demand demand;
      for (const auto& [type, count] : record.instances)
        demand[kPools[static_cast<std::size_t>(pool_of(type))].name] += count;
      if (!record.granted) {
        waiting.push_back({record.owner, demand, record.priority, record.arrival, record.at_most});
        continue;
      }
      held.push_back({record.owner, demand, record.until()});
      for (const auto& [pool, slots] : record.slots)
        for (int slot : slots) ASSERT_TRUE(taken[pool].insert(slot).second);
    }
    std::vector<std::string> expected;
    for (const auto& v : plan_grants({{"default", 8}, {"gpu", 3}}, held, waiting, clock_.now()))
      if (v.granted) expected.push_back(v.owner);
    ASSERT_EQ(capacity_->ready_owners(), expected);

    const int what = below(10);
    if (what < 4) {
      std::map<std::string, int> instances{{"ml.m5.large", 1 + below(8)}};
      if (below(4) == 0) instances["ml.p3.2xlarge"] = 1 + below(3);
      LeaseRequest request{.owner = "training/" + std::to_string(step),
                           .instances = instances,
                           .priority = below(8) == 0 ? 1 : 0};
      if (below(5) > 0) request.at_most = base::Duration(1 + below(5000));
      capacity_->request(request);
    } else if (what < 6 && !all.empty()) {
      const std::string owner = all[static_cast<std::size_t>(below(int(all.size())))].owner;
      ASSERT_TRUE(store_.commit({capacity_->release(owner)}));
    } else if (what < 8 && !waiting.empty()) {
      const auto& gang = waiting[static_cast<std::size_t>(below(int(waiting.size())))];
      const bool fits = testing::Matches(testing::Contains(gang.owner))(expected);
      const auto lease = capacity_->request({.owner = gang.owner});
      ASSERT_EQ(lease.state == Lease::State::granted, fits) << gang.owner;
    } else if (what == 8) {
      clock_.advance(base::Duration(below(3000)));
    } else if (below(10) == 0) {
      restart();
    }
  }
}

TEST_F(BooksTest, RacingRequestsAndReleasesNeverShareASlot) {
  std::atomic<std::uint8_t> taken[8]{};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string owner = "training/" + std::to_string(t) + "-" + std::to_string(i);
          const Lease lease = ask(owner, 1 + (t + i) % 4);
          for (int slot : lease.slots) EXPECT_EQ(taken[slot]++, 0);
          for (int slot : lease.slots) --taken[slot];
          EXPECT_TRUE(store_.commit({capacity_->release(owner)}));
        }
      });
  }
  EXPECT_EQ(capacity_->snapshot().at("pools").at(0).at("used").to_number<int>(), 0);
  EXPECT_THAT(capacity_->waiting_owners(), IsEmpty());
}

}  // namespace
}  // namespace meridian::region::capacity
