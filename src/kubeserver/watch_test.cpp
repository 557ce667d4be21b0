// Watches through the handler, each in a thread as a face runs them.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/strings.h"
#include "base/sync.h"
#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;

std::string at(const Json& value, std::string_view path) {
  const Json* found = base::find_path(value, path);
  return found != nullptr && found->is_string() ? std::string(base::view(found->get_string())) : "";
}

// A client that watches, until the server is stopped.
class Watching {
 public:
  Watching(TestServer& server, std::string target, HeaderList headers = {}) {
    responder_.on_write = [this](std::string_view bytes) {
      auto lines = lines_.lock();
      partial_ += bytes;
      while (partial_.find('\n') != std::string::npos) {
        const std::size_t end = partial_.find('\n');
        lines->push_back(*base::parse_json(partial_.substr(0, end)));
        partial_.erase(0, end + 1);
      }
      lines_.notify_all();
    };
    thread_ = std::jthread([this, &server, target = std::move(target), headers] {
      server.serve("GET", target, "", headers, responder_);
      *ended_.lock() = true;
      ended_.notify_all();
    });
  }

  // The next event.
  Json next() {
    auto lines = lines_.lock();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    if (!lines.wait_until({}, deadline, [&](const auto& all) { return all.size() > taken_; })) {
      ADD_FAILURE() << "no event";
      return nullptr;
    }
    return (*lines)[taken_++];
  }
  // "ADDED a": of the next event.
  std::string next_text() {
    const Json event = next();
    return at(event, "type") + " " + at(event, "object.metadata.name");
  }
  void wait_end() {
    auto ended = ended_.lock();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    EXPECT_TRUE(ended.wait_until({}, deadline, [](bool value) { return value; }));
  }
  std::size_t seen() { return lines_.lock()->size(); }
  const net::Response& answer() const { return responder_.answer; }

 private:
  RecordingResponder responder_;
  std::string partial_;
  base::Sync<std::vector<Json>> lines_;
  base::Sync<bool> ended_{false};
  std::size_t taken_ = 0;
  std::jthread thread_;
};

class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", job_definition());
  }
  // Before the watching threads are joined.
  void stop() { server.server.stop(); }

  std::string version() { return at(server.get(kJobs).body, "metadata.resourceVersion"); }
  Answer label(const std::string& name, const Json& labels) {
    return server.patch(kJobs + "/" + name, "application/merge-patch+json",
                        JsonObject{{"metadata", JsonObject{{"labels", labels}}}});
  }

  TestServer server;
};

TEST_F(WatchTest, EveryChangeAfterTheListedVersionIsSeenOnceInOrder) {
  server.create(kJobs, job("before"));
  Watching watch(server, kJobs + "?watch=true&resourceVersion=" + version());
  const Answer made = server.create(kJobs, job("a"));
  label("a", {{"x", "1"}});
  server.remove(kJobs + "/a");
  const Json added = watch.next();
  EXPECT_EQ(at(added, "type"), "ADDED");
  EXPECT_EQ(added.at("object"), made.body);
  EXPECT_EQ(watch.next_text(), "MODIFIED a");
  const Json deleted = watch.next();
  EXPECT_EQ(at(deleted, "type"), "DELETED");
  EXPECT_EQ(at(deleted, "object.metadata.labels.x"), "1");
  EXPECT_EQ(at(deleted, "object.metadata.resourceVersion"), version());
  stop();
}

TEST_F(WatchTest, WithoutAVersionWhatIsThereComesFirst) {
  server.create(kJobs, job("a"));
  server.create(kJobs, job("b"));
  Watching watch(server, kJobs + "?watch=1");
  EXPECT_EQ(watch.next_text(), "ADDED a");
  EXPECT_EQ(watch.next_text(), "ADDED b");
  server.create(kJobs, job("c"));
  EXPECT_EQ(watch.next_text(), "ADDED c");
  stop();
}

TEST_F(WatchTest, InitialEventsEndWithABookmarkWhenAsked) {
  server.create(kJobs, job("a"));
  Watching watch(server, kJobs +
                             "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                             "resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(watch.next_text(), "ADDED a");
  const Json bookmark = watch.next();
  EXPECT_EQ(at(bookmark, "type"), "BOOKMARK");
  EXPECT_EQ(at(bookmark, "object.metadata.resourceVersion"), version());
  const Json& annotations = bookmark.at("object").at("metadata").at("annotations");
  EXPECT_EQ(annotations.at("k8s.io/initial-events-end"), Json("true"));
  stop();
}

TEST_F(WatchTest, AnObjectEntersAndLeavesASelection) {
  server.create(kJobs, job("a"));
  Watching watch(server, kJobs + "?watch=1&labelSelector=x%3D1&resourceVersion=" + version());
  label("a", {{"y", "2"}});  // none of theirs
  label("a", {{"x", "1"}});
  EXPECT_EQ(watch.next_text(), "ADDED a");
  label("a", {{"y", "3"}});
  EXPECT_EQ(watch.next_text(), "MODIFIED a");
  label("a", {{"x", "2"}});
  const Json left = watch.next();
  EXPECT_EQ(at(left, "type"), "DELETED");
  EXPECT_EQ(at(left, "object.metadata.labels.x"), "1") << "as it was when it matched";
  EXPECT_EQ(at(left, "object.metadata.resourceVersion"), version());
  server.remove(kJobs + "/a");  // not theirs any more
  label("a", {});
  stop();
  watch.wait_end();
  EXPECT_EQ(watch.seen(), 3u);
}

TEST_F(WatchTest, OnlyTheNamespaceIsSeen) {
  server.create("/api/v1/namespaces", JsonObject{{"metadata", {{"name", "other"}}}});
  Watching watch(server, kJobs + "?watch=1&resourceVersion=" + version());
  Watching all(server, "/apis/example.test/v1/jobs?watch=1&resourceVersion=" + version());
  server.create("/apis/example.test/v1/namespaces/other/jobs", job("x"));
  server.create(kJobs, job("a"));
  EXPECT_EQ(watch.next_text(), "ADDED a");
  EXPECT_EQ(all.next_text(), "ADDED x");
  EXPECT_EQ(all.next_text(), "ADDED a");
  stop();
}

TEST_F(WatchTest, EventsAreTablesForThoseWhoWantThem) {
  Watching watch(server, kJobs + "?watch=1&resourceVersion=" + version(),
                 {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  server.create(kJobs, job("a"));
  const Json event = watch.next();
  EXPECT_EQ(at(event, "object.kind"), "Table");
  EXPECT_EQ(event.at("object").at("rows").as_array()[0].at("cells").as_array()[0], Json("a"));
  EXPECT_EQ(at(event, "object.metadata.resourceVersion"), version());
  stop();
}

TEST_F(WatchTest, AVersionOfTheFutureIsRefused) {
  const Answer answer = server.get(kJobs + "?watch=1&resourceVersion=999999");
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.text, testing::HasSubstr("Too large resource version"));
  EXPECT_EQ(server.get(kJobs + "?watch=1&resourceVersion=x").status, 400);
}

TEST_F(WatchTest, TheEndOfADefinitionEndsItsWatches) {
  Watching watch(server, kJobs + "?watch=1&resourceVersion=" + version());
  server.create(kJobs, job("a"));
  EXPECT_EQ(watch.next_text(), "ADDED a");  // so the watch is there before its end comes
  server.remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobs.example.test");
  server.settle();
  EXPECT_EQ(watch.next_text(), "DELETED a");
  watch.wait_end();
  stop();
}

TEST(WatchLimits, MoreWatchesThanAllowedAreRefused) {
  Settings settings;
  settings.most_watches = 1;
  TestServer server(nullptr, settings);
  Watching first(server, "/api/v1/namespaces?watch=1");
  EXPECT_EQ(first.next_text(), "ADDED default");
  EXPECT_EQ(first.next_text(), "ADDED kube-system");
  Answer second;
  // The first one is counted a moment after its initial events.
  for (int i = 0; i < 1000 && second.status != 429; ++i) {
    second = server.get("/api/v1/namespaces?watch=1&timeoutSeconds=1&resourceVersion=1");
  }
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.headers.get("retry-after"), "10");
  server.server.stop();
}

}  // namespace
}  // namespace meridian::kubeserver
