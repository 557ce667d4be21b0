// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/sync.h"
#include "kube/client/api.h"

namespace meridian::kube {
namespace {

using base::Json;
using std::chrono::milliseconds;
using Type = WatchEvent::Type;
using ::testing::ElementsAre;

constexpr milliseconds patience{10'000};

Json thing(const std::string& name, const std::string& revision) {
  return {{"metadata", {{"name", name}, {"namespace", "n"}, {"resourceVersion", revision}}}};
}

// Answers as the test says; a watch without more to say waits until it is stopped.
class ScriptedApi final : public Api {
 public:
  struct Watch {
    std::vector<WatchEvent> events;
    std::function<void()> then;  // throws, or returns: the server ended it
  };
  struct Script {
    std::deque<std::function<List()>> lists;
    std::deque<Watch> watches;
    std::vector<std::string> watched_from;
    int listed = 0;
  };
  base::Sync<Script> script;

  void on_list(List list) {
    script.lock()->lists.push_back([list] { return list; });
  }
  void on_list_throw(StatusError error) {
    script.lock()->lists.push_back([error]() -> List { throw error; });
  }
  void on_watch(std::vector<WatchEvent> events, std::function<void()> then = [] {}) {
    script.lock()->watches.push_back({std::move(events), std::move(then)});
  }

  List list(const ResourceId&, const std::string&, const ListOptions&) override {
    std::function<List()> answer;
    {
      auto now = script.lock();
      ++now->listed;
      if (now->lists.empty()) return {};
      answer = now->lists.front();
      now->lists.pop_front();
    }
    return answer();
  }

  void watch(const ResourceId&, const std::string&, const WatchOptions& options,
             const std::function<bool(WatchEvent)>& sink, std::stop_token stop) override {
    Watch next;
    {
      auto now = script.lock();
      now->watched_from.push_back(options.resource_version);
      now.wait(stop, [](const Script& s) { return !s.watches.empty(); });
      if (stop.stop_requested()) return;
      next = now->watches.front();
      now->watches.pop_front();
    }
    for (auto& event : next.events) {
      if (!sink(event)) return;
    }
    next.then();
  }

  Json get(const ResourceId&, const ObjectKey&) override { std::abort(); }
  Json create(const ResourceId&, const Json&) override { std::abort(); }
  Json update(const ResourceId&, const Json&) override { std::abort(); }
  Json update_status(const ResourceId&, const Json&) override { std::abort(); }
  Json patch(const ResourceId&, const ObjectKey&, PatchType, const Json&, const PatchOptions&,
             const std::string&) override {
    std::abort();
  }
  void remove(const ResourceId&, const ObjectKey&, Propagation, const std::string&) override {
    std::abort();
  }
};

class CacheTest : public ::testing::Test {
 protected:
  void start() {
    cache_ = std::make_unique<Cache>(
        api_, ResourceId{"g", "v1", "things"}, "",
        [this](const ObjectKey& key) {
          changes_.lock()->push_back(key.name);
          changes_.notify_all();
        },
        CacheSettings{.first_retry = milliseconds(1), .longest_retry = milliseconds(4)});
  }
  // Waits until that many changes were told, in all.
  std::vector<std::string> changes(std::size_t count) {
    auto now = changes_.lock();
    now.wait_until({}, std::chrono::steady_clock::now() + patience,
                   [&](const auto& told) { return told.size() >= count; });
    return *now;
  }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const Json& object : cache_->list()) out.insert(name_of(object));
    return out;
  }

  ScriptedApi api_;
  base::Sync<std::vector<std::string>> changes_;
  std::unique_ptr<Cache> cache_;
};

TEST_F(CacheTest, HoldsWhatWasListedAndFollowsEvents) {
  api_.on_list({{thing("a", "1"), thing("b", "2")}, "5"});
  api_.on_watch({{Type::added, thing("c", "6")},
                 {Type::modified, thing("a", "7")},
                 {Type::deleted, thing("b", "8")}});
  start();
  EXPECT_THAT(changes(5), ElementsAre("a", "b", "c", "a", "b"));
  EXPECT_EQ(names(), (std::set<std::string>{"a", "c"}));
  EXPECT_EQ(resource_version_of(*cache_->find({"n", "a"})), "7");
  EXPECT_FALSE(cache_->find({"n", "b"}));
  EXPECT_EQ(cache_->snapshot().size(), 2u);
  EXPECT_TRUE(cache_->wait_synced({}, milliseconds(0)));
}

TEST_F(CacheTest, ABrokenWatchIsResumedWhereItEnded) {
  api_.on_list({{thing("a", "1")}, "5"});
  api_.on_watch({{Type::modified, thing("a", "6")}, {Type::bookmark, thing("", "9")}}, [] {
    throw base::Error(base::Code::unavailable, "connection reset", base::Retry::yes);
  });
  api_.on_watch({{Type::added, thing("b", "10")}});
  start();
  EXPECT_THAT(changes(3), ElementsAre("a", "a", "b"));
  auto script = api_.script.lock();
  EXPECT_EQ(script->listed, 1);
  EXPECT_THAT(std::vector(script->watched_from.begin(), script->watched_from.begin() + 2),
              ElementsAre("5", "9"));
}

TEST_F(CacheTest, WhenTheRevisionIsForgottenAllIsListedAgain) {
  api_.on_list({{thing("a", "1"), thing("gone", "2")}, "5"});
  api_.on_watch({}, [] { throw expired("too old resource version"); });
  api_.on_list({{thing("a", "1"), thing("b", "3")}, "9"});
  api_.on_watch({{Type::added, thing("c", "10")}});
  start();
  EXPECT_THAT(changes(6), ElementsAre("a", "gone", "a", "b", "gone", "c"));
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(CacheTest, AFailedListingIsTriedAgainAndTold) {
  api_.on_list_throw({503, "ServiceUnavailable", "not yet"});
  api_.on_list_throw({403, "Forbidden", "not for you"});
  api_.on_list({{thing("a", "1")}, "5"});
  start();
  ASSERT_TRUE(cache_->wait_synced({}, patience));
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_EQ(cache_->trouble(), "");
  EXPECT_EQ(api_.script.lock()->listed, 3);
}

TEST_F(CacheTest, WhatWasReadStaysReadableInTrouble) {
  api_.on_list({{thing("a", "1")}, "5"});
  base::Sync<bool> asked_again;
  api_.on_watch({}, [] { throw StatusError(500, "InternalError", "broken"); });
  api_.on_watch({}, [&] {
    *asked_again.lock() = true;
    asked_again.notify_all();
    throw StatusError(500, "InternalError", "still broken");
  });
  start();
  ASSERT_TRUE(asked_again.lock().wait_until({}, std::chrono::steady_clock::now() + patience,
                                            [](bool done) { return done; }));
  EXPECT_EQ(names(), std::set<std::string>{"a"});
  EXPECT_THAT(cache_->trouble(), ::testing::HasSubstr("broken"));
}

TEST_F(CacheTest, EndsAtOnceWhileItWatches) {
  api_.on_list({{}, "5"});
  start();
  ASSERT_TRUE(cache_->wait_synced({}, patience));
  cache_.reset();  // would hang for the watch's five minutes
}

TEST_F(CacheTest, WithoutAListingItIsNotSynced) {
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 3; ++i) api_.on_list_throw({500, "InternalError", "no"});
  start();
  EXPECT_FALSE(cache_->wait_synced(stop.get_token(), patience));
}

}  // namespace
}  // namespace meridian::kube
