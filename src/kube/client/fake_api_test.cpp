// What is the fake's own beside the contract of Api: breaking on demand.
//
// SPDX-License-Identifier: Apache-2.0
#include "kube/client/fake_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace meridian::kube {
namespace {

using base::Json;
const ResourceId things{"g", "v1", "things"};

class FakeApiTest : public ::testing::Test {
 protected:
  Json create(const std::string& name) {
    return api_.create(things, Json{{"metadata", {{"name", name}, {"namespace", "n"}}}});
  }
  base::ManualClock clock_;
  base::SeededRandom random_{7};
  FakeApi api_{clock_, random_};
};

TEST_F(FakeApiTest, FailsAsOftenAsToldAndDoesNothingThen) {
  api_.fail_next("create", {503, "ServiceUnavailable", "not now"}, 2);
  EXPECT_THROW(create("a"), StatusError);
  EXPECT_THROW(create("a"), StatusError);
  EXPECT_EQ(name_of(create("a")), "a");
  EXPECT_THAT(api_.calls(), ::testing::ElementsAre("create things n/a", "create things n/a",
                                                   "create things n/a"));
  api_.forget_calls();
  EXPECT_TRUE(api_.calls().empty());
}

TEST_F(FakeApiTest, ForgottenHistoryIsGone) {
  const std::string revision = api_.list(things, "").resource_version;
  create("a");
  api_.forget_history();
  try {
    api_.watch(things, "", {.resource_version = revision}, [](const WatchEvent&) { return true; },
               {});
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), 410);
    EXPECT_EQ(error.reason(), "Expired");
  }
}

TEST_F(FakeApiTest, BrokenWatchesEnd) {
  create("a");
  std::thread watcher([&] {
    api_.watch(things, "", {},
               [&](const WatchEvent&) {
                 api_.break_watches();
                 return true;
               },
               {});
  });
  watcher.join();  // would hang for five minutes
}

TEST_F(FakeApiTest, ChildrenOfOtherKindsGoWithTheirOwner) {
  const ResourceId parts{"g", "v1", "parts"};
  Json child{{"metadata", {{"name", "c"}, {"namespace", "n"}}}};
  add_owner(child,
            {.api_version = "g/v1", .kind = "Thing", .name = "a", .uid = uid_of(create("a"))});
  for (const Propagation propagation : {Propagation::foreground, Propagation::background}) {
    api_.create(parts, child);
    api_.remove(things, {"n", "a"}, propagation);
    EXPECT_TRUE(api_.list(parts, "").items.empty());
    EXPECT_TRUE(api_.list(things, "").items.empty());
    child = Json{{"metadata", {{"name", "c"}, {"namespace", "n"}}}};
    add_owner(child,
              {.api_version = "g/v1", .kind = "Thing", .name = "a", .uid = uid_of(create("a"))});
  }
}

TEST_F(FakeApiTest, AWatchFromNowhereBeginsWithWhatThereIs) {
  create("a");
  create("b");
  std::vector<std::string> seen;
  api_.watch(things, "", {.resource_version = "0"},
             [&](const WatchEvent& event) {
               seen.push_back(name_of(event.object));
               return seen.size() < 2;
             },
             {});
  EXPECT_THAT(seen, ::testing::ElementsAre("a", "b"));
}

}  // namespace
}  // namespace meridian::kube
