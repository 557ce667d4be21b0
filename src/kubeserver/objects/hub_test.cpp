// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/objects/hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/status.h"
#include "kubeserver/objects/catalog.h"

namespace meridian::kubeserver::objects {
namespace {

using base::Json;
using base::JsonObject;
using std::chrono::seconds;

class HubTest : public testing::Test {
 protected:
  explicit HubTest(std::size_t remembered = 1'000)
      : store_(store::open_in_memory(remembered)), storage_(*store_, clock_, "0") {}

  store::Revision put(const std::string& name, int value) {
    const Json object = JsonObject{{"metadata", JsonObject{{"name", name}, {"namespace", "n"}}},
                                   {"data", JsonObject{{"v", std::to_string(value)}}}};
    return *store_->commit({storage_.put(maps_, object, std::nullopt)});
  }
  static std::chrono::steady_clock::time_point soon() {
    return std::chrono::steady_clock::now() + seconds(20);
  }
  // Names of the next `count` events.
  static std::vector<std::string> take(Hub::Watcher& watcher, std::size_t count) {
    std::vector<std::string> names;
    while (names.size() < count) {
      const auto events = watcher.wait_next(soon());
      if (events.empty()) break;
      for (const EventPtr& event : events) names.push_back(event->key().name);
    }
    return names;
  }
  std::vector<std::string> expected(int from, int to) const {
    std::vector<std::string> names;
    for (int i = from; i < to; ++i) names.push_back("c" + std::to_string(i));
    return names;
  }

  base::ManualClock clock_;
  std::unique_ptr<store::Store> store_;
  Storage storage_;
  const kinds::Served& maps_ = builtin("configmaps");
};

TEST_F(HubTest, ALateWatcherReadsTheHistoryAndThenWhatComes) {
  Hub hub(storage_, {.most_recent = 10});
  const auto early = hub.watch(maps_.collection, 0);
  for (int i = 0; i < 40; ++i) put("c" + std::to_string(i), 0);
  EXPECT_EQ(take(*early, 40), expected(0, 40));
  const auto late = hub.watch(maps_.collection, 0);
  EXPECT_EQ(take(*late, 40), expected(0, 40));
  for (int i = 40; i < 45; ++i) put("c" + std::to_string(i), 0);
  EXPECT_EQ(take(*late, 5), expected(40, 45));
  EXPECT_EQ(take(*early, 5), expected(40, 45));
}

TEST_F(HubTest, AWatcherThatFellBehindCatchesUp) {
  Hub hub(storage_, {.most_recent = 10});
  const auto slow = hub.watch(maps_.collection, 0), quick = hub.watch(maps_.collection, 0);
  for (int i = 0; i < 60; ++i) put("c" + std::to_string(i), 0);
  EXPECT_EQ(take(*quick, 60), expected(0, 60));
  EXPECT_EQ(take(*slow, 60), expected(0, 60));
}

TEST_F(HubTest, OtherCollectionsAndDocumentsAreNotSeenButMoveThePosition) {
  Hub hub(storage_);
  const auto watcher = hub.watch("core/secrets", 0);
  const store::Revision last = put("c", 1);
  const auto other = hub.watch(maps_.collection, 0);
  EXPECT_EQ(take(*other, 1).size(), 1u);
  EXPECT_TRUE(watcher->wait_next(std::chrono::steady_clock::now()).empty());
  EXPECT_EQ(watcher->position(), last);
}

TEST_F(HubTest, OneEncodingServesAllWatchers) {
  Hub hub(storage_);
  const auto a = hub.watch(maps_.collection, 0), b = hub.watch(maps_.collection, 0);
  put("c", 1);
  const EventPtr first = a->wait_next(soon()).at(0), second = b->wait_next(soon()).at(0);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first->line(maps_, EventType::added, {}, {}).get(),
            second->line(maps_, EventType::added, {}, {}).get());
}

TEST_F(HubTest, StoppingEndsEveryWait) {
  Hub hub(storage_);
  const auto watcher = hub.watch(maps_.collection, 0);
  std::jthread stopper([&] { hub.stop(); });
  EXPECT_TRUE(watcher->wait_next(soon()).empty());
  EXPECT_TRUE(hub.stopped());
}

class ForgetfulHubTest : public HubTest {
 protected:
  ForgetfulHubTest() : HubTest(10) {}
};

TEST_F(ForgetfulHubTest, AVersionThatIsForgottenSaysSo) {
  Hub hub(storage_);
  for (int i = 0; i < 50; ++i) put("c", i);
  const auto old = hub.watch(maps_.collection, 1);
  try {
    old->wait_next(soon());
    FAIL() << "nothing was missed?";
  } catch (const kube::StatusError& error) {
    EXPECT_EQ(error.status(), 410);
    EXPECT_EQ(error.reason(), "Expired");
  }
}

}  // namespace
}  // namespace meridian::kubeserver::objects
