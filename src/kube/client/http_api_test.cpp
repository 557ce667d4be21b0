// What is HttpApi's own beside the contract of Api: credentials, headers, errors.
//
// SPDX-License-Identifier: Apache-2.0
#include "kube/client/http_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "kube/client/fake_api.h"
#include "kube/client/fake_server.h"

namespace meridian::kube {
namespace {

using base::Json;
const ResourceId things{"g", "v1", "things"};

Access access_to(std::uint16_t port) {
  Access out;
  out.server = "http://127.0.0.1:" + std::to_string(port);
  return out;
}

// Answers everything alike and keeps the last request.
class Recorder {
 public:
  explicit Recorder(net::Response answer)
      : server_({}, [this, answer](net::Request& request, net::Responder& responder) {
          target = request.target;
          method = request.method;
          headers = request.headers;
          body = request.body->read_all(1 << 20);
          responder.send(answer);
        }) {}
  HttpApi api(Access access = {}) {
    access.server = "http://127.0.0.1:" + std::to_string(server_.port());
    return HttpApi(http_, access, {.user_agent = "test", .field_manager = "me"});
  }

  std::string target, method, body;
  net::Headers headers;

 private:
  net::HttpServer server_;
  net::HttpClient http_;
};

TEST(HttpApi, RequestsAreAsKubernetesExpectsThem) {
  Recorder server({.body = "{}"});
  Access access;
  access.token = "secret";
  HttpApi api = server.api(access);
  const Json object = Json{{"metadata", {{"name", "a"}, {"namespace", "n"}}}};
  api.create(things, object);
  EXPECT_EQ(server.method + " " + server.target,
            "POST /apis/g/v1/namespaces/n/things?fieldManager=me");
  EXPECT_EQ(server.headers.get("Authorization"), "Bearer secret");
  EXPECT_EQ(server.headers.get("User-Agent"), "test");
  EXPECT_EQ(server.headers.get("Content-Type"), "application/json");
  api.update_status(things, object);
  EXPECT_EQ(server.method + " " + server.target,
            "PUT /apis/g/v1/namespaces/n/things/a/status?fieldManager=me");
  api.patch(things, {"n", "a"}, PatchType::apply, object, {.field_manager = "x y"});
  EXPECT_EQ(server.method + " " + server.target,
            "PATCH /apis/g/v1/namespaces/n/things/a?fieldManager=x%20y");
  EXPECT_EQ(server.headers.get("Content-Type"), "application/apply-patch+yaml");
  api.list(things, "n", {.label_selector = "a in (b,c)", .limit = 7, .resource_version = "0"});
  EXPECT_EQ(server.target,
            "/apis/g/v1/namespaces/n/things?limit=7&labelSelector=a%20in%20%28b%2Cc%29&"
            "resourceVersion=0");
  api.remove(things, {"n", "a"}, Propagation::orphan, "u");
  EXPECT_EQ(server.method + " " + server.target, "DELETE /apis/g/v1/namespaces/n/things/a");
  EXPECT_EQ(server.body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan",)"
            R"("preconditions":{"uid":"u"}})");
  EXPECT_EQ(api.send({.path = "/version", .accept = "text/plain"}).status, 200);
  EXPECT_EQ(server.headers.get("Accept"), "text/plain");
}

TEST(HttpApi, AnErrorIsWhatTheServerSaid) {
  net::Response answer{.status = 503, .body = "not now"};
  answer.headers.add("Retry-After", "7");
  Recorder server(answer);
  HttpApi api = server.api();
  try {
    api.get(things, {"n", "a"});
    FAIL();
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status(), 503);
    EXPECT_TRUE(error.retryable());
    EXPECT_EQ(error.details().retry_after_seconds, 7);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("not now"));
  }
  Recorder odd({.body = "<html>"});
  HttpApi odd_api = odd.api();
  EXPECT_THROW(odd_api.get(things, {"n", "a"}), base::Error);
}

TEST(HttpApi, NobodyThereIsUnavailable) {
  net::HttpClient http;
  HttpApi api(http, socket_access("/no/such/socket"));
  try {
    api.get(things, {"n", "a"});
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::unavailable);
    EXPECT_TRUE(error.retryable());
  }
}

TEST(HttpApi, ARefusedTokenIsReadAgainOnce) {
  base::ManualClock clock;
  base::SeededRandom random(7);
  FakeApi fake(clock, random);
  FakeServer server(fake);
  server.token = "new";
  const base::TempDir directory;
  Access access = access_to(server.port());
  access.token_file = directory.path() / "token";
  base::write_file(access.token_file, "old");
  net::HttpClient http;
  HttpApi api(http, access, {.clock = &clock});
  EXPECT_THROW(api.list(things, ""), StatusError);
  base::write_file(access.token_file, "new");
  EXPECT_EQ(api.list(things, "").items.size(), 0u);
}

TEST(HttpApi, ACacheFollowsOverHttpAndSurvivesBreaks) {
  base::ManualClock clock;
  base::SeededRandom random(7);
  FakeApi fake(clock, random);
  FakeServer server(fake);
  net::HttpClient http;
  HttpApi api(http, access_to(server.port()));
  base::Sync<std::vector<std::string>> told;
  const auto create = [&](const std::string& name) {
    fake.create(things, Json{{"metadata", {{"name", name}, {"namespace", "n"}}}});
  };
  const auto wait_for = [&](const std::string& name) {
    return told.lock().wait_until(
        {}, std::chrono::steady_clock::now() + std::chrono::seconds(20), [&](const auto& names) {
          return std::find(names.begin(), names.end(), name) != names.end();
        });
  };
  create("a");
  const Cache cache(api, things, "",
                    [&](const ObjectKey& key) {
                      told.lock()->push_back(key.name);
                      told.notify_all();
                    },
                    {.first_retry = std::chrono::milliseconds(1)});
  EXPECT_TRUE(wait_for("a"));
  create("b");
  EXPECT_TRUE(wait_for("b"));
  fake.break_watches();
  create("c");
  EXPECT_TRUE(wait_for("c"));
  fake.break_watches();
  create("d");
  fake.forget_history();
  create("e");
  EXPECT_TRUE(wait_for("e"));
  EXPECT_TRUE(wait_for("d"));
  EXPECT_EQ(cache.list().size(), 5u);
}

}  // namespace
}  // namespace meridian::kube
