// The contract of watch, for every back end.
//
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "store/contract.h"

namespace meridian::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// "put a@3=body": short enough to compare whole histories.
std::string text_of(const Change& change) {
  return (change.kind == Change::Kind::put ? "put " : "remove ") + change.document.key + "@" +
         std::to_string(change.document.revision) + "=" + change.document.body;
}

std::vector<std::string> texts_of(const std::vector<Change>& changes) {
  std::vector<std::string> texts;
  for (const Change& change : changes) texts.push_back(text_of(change));
  return texts;
}

using Texts = std::vector<std::string>;

class WatchContract : public StoreContract {
 protected:
  std::vector<Change> next(Watch& watch) { return watch.wait_next({}, seconds(10)); }
  static std::vector<Change> at_once(Watch& watch) { return watch.wait_next({}, milliseconds(0)); }
};
INSTANTIATE_TEST_SUITE_P(Every, WatchContract, testing::ValuesIn(quick_backends()), backend_name);

TEST_P(WatchContract, SeesEveryLaterChangeOnceInOrder) {
  must({put("a", "1"), put("b", "1")});
  must({put("a", "2")});
  must({remove("a"), put("c", "1")});
  must({put("a", "3")});
  EXPECT_EQ(
      texts_of(next(*store().watch("", 0))),
      (Texts{"put a@1=1", "put b@1=1", "put a@2=2", "remove a@3=2", "put c@3=1", "put a@4=3"}));
  const auto watch = store().watch("", 2);
  EXPECT_EQ(texts_of(next(*watch)), (Texts{"remove a@3=2", "put c@3=1", "put a@4=3"}));
  EXPECT_EQ(watch->position(), 4);
  must({put("b", "2")});
  EXPECT_EQ(texts_of(next(*watch)), Texts{"put b@5=2"});
  EXPECT_TRUE(at_once(*watch).empty());
}

TEST_P(WatchContract, ChangesCarryWholeDocuments) {
  must({put("a", "1", {{"f", "x"}})});
  must({put("a", "2", {{"f", "y"}})});
  must({remove("a")});
  const auto changes = next(*store().watch("a", 0));
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].document.index, (IndexFields{{"f", "x"}}));
  EXPECT_EQ(changes[1].document.index, (IndexFields{{"f", "y"}}));
  EXPECT_EQ(changes[2].document.index, (IndexFields{{"f", "y"}}));
  for (const Change& c : changes) EXPECT_EQ(c.document.created_revision, 1);
}

TEST_P(WatchContract, ChangesTellWhatTheyReplaced) {
  must({put("a", "1", {{"f", "x"}})});
  must({put("a", "2", {{"f", "y"}})});
  must({remove("a")});
  must({put("a", "3")});
  const auto changes = next(*store().watch("a", 0));
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_FALSE(changes[0].before);
  ASSERT_TRUE(changes[1].before);
  EXPECT_EQ(changes[1].before->body, "1");
  EXPECT_EQ(changes[1].before->revision, 1);
  EXPECT_EQ(changes[1].before->index, (IndexFields{{"f", "x"}}));
  ASSERT_TRUE(changes[2].before);
  EXPECT_EQ(changes[2].before->body, "2");
  EXPECT_EQ(changes[2].before->revision, 2);
  EXPECT_FALSE(changes[3].before);
}

TEST_P(WatchContract, OnlyThePrefixIsSeen) {
  const auto watch = store().watch("jobs/", 0);
  must({put("jobs/a", ""), put("jobs", ""), put("jobz/a", "")});
  must({put("other", "")});
  EXPECT_EQ(texts_of(next(*watch)), Texts{"put jobs/a@1="});
  EXPECT_TRUE(at_once(*watch).empty());
}

TEST_P(WatchContract, AWaiterIsWokenByACommit) {
  const auto watch = store().watch("a", store().revision());
  std::jthread writer([&] { must({put("a", "1")}); });
  EXPECT_EQ(texts_of(next(*watch)), Texts{"put a@1=1"});
}

TEST_P(WatchContract, AWaiterEndsAtItsDeadlineAndOnStop) {
  const auto watch = store().watch("a", 0);
  EXPECT_TRUE(watch->wait_next({}, milliseconds(1)).empty());
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_TRUE(watch->wait_next(stop.get_token(), milliseconds::max()).empty());
  must({put("a", "1")});
  EXPECT_TRUE(watch->wait_next(stop.get_token(), seconds(10)).empty());
  EXPECT_EQ(next(*watch).size(), 1u);  // nothing was lost by stopping
}

TEST_P(WatchContract, WhatIsTooOldSaysSo) {
  open(10);
  const auto slow = store().watch("", 0);
  for (int i = 0; i < 50; ++i) must({put("k", std::to_string(i))});
  const auto expired = [&](auto work) {
    return code_of_error(work) == base::Code::failed_precondition;
  };
  EXPECT_TRUE(expired([&] { next(*slow); }));
  EXPECT_TRUE(expired([&] { next(*slow); }));  // and stays so
  EXPECT_TRUE(expired([&] { next(*store().watch("", 5)); }));
  EXPECT_EQ(texts_of(next(*store().watch("", 48))), (Texts{"put k@49=48", "put k@50=49"}));
  EXPECT_TRUE(expired([&] { store().watch("", 51); }));  // not yet written
}

TEST_P(WatchContract, AQuietWatchDoesNotGrowOld) {
  open(10);
  const auto quiet = store().watch("quiet/", 0);
  for (int i = 0; i < 20; ++i) must({put("busy", std::to_string(i))});
  EXPECT_TRUE(at_once(*quiet).empty());
  EXPECT_EQ(quiet->position(), 20);
  // Also when the many changes come during one long wait.
  for (int i = 0; i < 50; ++i) must({put("busy", std::to_string(i))});
  must({put("quiet/a", "1")});
  EXPECT_EQ(texts_of(next(*quiet)), Texts{"put quiet/a@71=1"});
}

TEST_P(WatchContract, ACommitIsNeverSplitAndMuchComesInParts) {
  std::vector<Write> many;
  for (int i = 0; i < 1500; ++i) many.push_back(put("big/" + std::to_string(i), ""));
  must(many);
  for (int i = 0; i < 10; ++i) must({put("small", std::to_string(i))});
  const auto watch = store().watch("", 0);
  EXPECT_EQ(next(*watch).size(), 1500u);
  EXPECT_EQ(watch->position(), 1);
  EXPECT_EQ(next(*watch).size(), 10u);
  EXPECT_EQ(watch->position(), 11);
}

TEST_P(WatchContract, LargeBodiesComeInParts) {
  const std::string body(3u << 20, 'x');
  for (int i = 0; i < 7; ++i) must({put("k" + std::to_string(i), body)});
  const auto watch = store().watch("", 0);
  const auto first = next(*watch);
  EXPECT_LT(first.size(), 7u);
  std::size_t total = first.size();
  while (total < 7) total += next(*watch).size();
  EXPECT_EQ(total, 7u);
}

// Whoever was shown a revision, by whatever call, may watch from it at once.
TEST_P(WatchContract, WhatWasShownCanBeWatched) {
  must({put("k", "0")});
  std::jthread writer([&](std::stop_token stop) {
    while (!stop.stop_requested()) must({put("k", "x")});
  });
  std::vector<std::jthread> readers;
  std::atomic<int> backwards = 0;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&] {
      const auto refused = code_of_error([&] {
        for (int i = 0; i < 150; ++i) {
          const Revision shown = i % 2 ? store().list({}).revision : store().find("k")->revision;
          if (store().revision() < shown) ++backwards;
          const auto watch = store().watch("", shown);
          const auto changes = watch->wait_next({}, seconds(10));
          if (changes.empty() || changes.front().document.revision != shown + 1) ++backwards;
        }
      });
      EXPECT_FALSE(refused);
    });
  }
  readers.clear();
  EXPECT_EQ(backwards, 0);
}

// Sixteen writers racing watchers lose, repeat and reorder nothing, and what a watch shows agrees
// with what a list shows.
TEST_P(WatchContract, SixteenWritersRacingAWatcherLoseRepeatAndReorderNothing) {
  constexpr int kWriters = 16, kCommits = 25;
  must({put("start", "")});
  std::vector<std::map<std::string, Revision>> worlds(3);
  std::atomic<int> disorder = 0, total_seen = 0;
  std::vector<std::jthread> watchers;
  for (auto& world : worlds) {
    watchers.emplace_back([&] {
      const Page start = store().list({.prefix = "w/", .limit = 100'000});
      for (const Document& d : start.documents) world[d.key] = d.revision;
      const auto watch = store().watch("w/", start.revision);
      Revision last = start.revision;
      while (!world.contains("w/end")) {
        for (const Change& change : watch->wait_next({}, seconds(30))) {
          const Document& d = change.document;
          if (d.revision < last) ++disorder;
          if (change.kind == Change::Kind::put && world[d.key] >= d.revision) ++disorder;  // again
          last = d.revision;
          ++total_seen;
          if (change.kind == Change::Kind::put) {
            world[d.key] = d.revision;
          } else if (world.erase(d.key) == 0) {
            ++disorder;  // a removal of what was not there
          }
        }
      }
    });
  }
  std::vector<std::jthread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const std::string mine = "w/" + std::to_string(w) + "/";
      for (int i = 0; i < kCommits; ++i) {
        must({put(mine + std::to_string(i % 4), std::to_string(i)), put("w/shared", mine)});
        if (i % 5 == 4) must({remove(mine + std::to_string(i % 4))});
      }
    });
  }
  writers.clear();
  must({put("w/end", "")});
  watchers.clear();
  EXPECT_EQ(disorder, 0);
  EXPECT_GT(total_seen, 0);
  std::map<std::string, Revision> present;
  for (const Document& d : list_all(store(), {.prefix = "w/"})) present[d.key] = d.revision;
  for (const auto& world : worlds) EXPECT_EQ(world, present);
  EXPECT_EQ(store().revision(), 2 + kWriters * (kCommits + kCommits / 5));
}

}  // namespace
}  // namespace meridian::store
