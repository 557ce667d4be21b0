// SPDX-License-Identifier: Apache-2.0
#include "kube/client/credentials.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"

namespace meridian::kube {
namespace {

using std::chrono::milliseconds;

constexpr const char* api_version = "client.authentication.k8s.io/v1";

// A plug-in that is this shell script.
ExecPlugin script(const std::string& text) {
  return {.command = "sh", .arguments = {"-c", text}, .api_version = api_version};
}

std::string printing(const std::string& status) {
  return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}'";
}

std::string why_not(const ExecPlugin& plugin, milliseconds timeout = milliseconds(10'000)) {
  try {
    run_plugin(plugin, timeout);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), base::Code::unauthenticated);
    return error.message();
  }
  return "";
}

TEST(ExecPlugin, ItsAnswerIsRead) {
  const PluginAnswer answer = run_plugin(script(printing(
      R"({"token":"t","expirationTimestamp":"2026-01-31T12:00:00Z","clientKeyData":"k"})")));
  EXPECT_EQ(answer.token, "t");
  EXPECT_EQ(answer.key_pem, "k");
  EXPECT_EQ(answer.expires, base::Timestamp{1'769'860'800'000});
}

TEST(ExecPlugin, ItIsToldWhatItMayKnow) {
  ExecPlugin plugin =
      script(printing(R"-({"token":"'"$A$(echo $KUBERNETES_EXEC_INFO | grep -c https://a)"'"})-"));
  plugin.environment = {{"A", "b"}};
  plugin.cluster = base::JsonObject{{"server", "https://a"}};
  EXPECT_EQ(run_plugin(plugin).token, "b1");
}

TEST(ExecPlugin, AFailureSaysWhatItSaid) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_PRED2(has, why_not(script("echo no luck >&2; exit 3")), "ended with 3: no luck");
  EXPECT_PRED2(has, why_not(script("kill -9 $$")), "ended with 137");
  EXPECT_PRED2(has, why_not(script("echo hello")), "printed no JSON");
  EXPECT_PRED2(has, why_not(script("echo '{}'")), "printed no ExecCredential");
  EXPECT_PRED2(has, why_not(script(printing("{}"))), "neither a token nor a certificate");
  EXPECT_PRED2(has, why_not(script(printing(R"({"token":"t","expirationTimestamp":"x"})"))),
               "expirationTimestamp");
  EXPECT_PRED2(has, why_not(script("exec sleep 100"), milliseconds(20)), "did not answer in time");
  EXPECT_PRED2(has, why_not(script("cat /dev/zero"), milliseconds(200)), "in time");
  EXPECT_PRED2(has, why_not({.command = "/no/such/program", .install_hint = "get it there"}),
               "get it there");
}

TEST(Credentials, ATokenFileIsReadAgainAfterAMinuteOrARefusal) {
  const base::TempDir directory;
  base::ManualClock clock;
  Access access;
  access.token_file = directory.path() / "token";
  base::write_file(access.token_file, "one\n");
  Credentials credentials(access, clock);
  EXPECT_EQ(credentials.current().authorization, "Bearer one");
  base::write_file(access.token_file, "two\n");
  EXPECT_EQ(credentials.current().authorization, "Bearer one");
  clock.advance(std::chrono::seconds(60));
  EXPECT_EQ(credentials.current().authorization, "Bearer two");
  base::write_file(access.token_file, "three\n");
  EXPECT_TRUE(credentials.renew());
  EXPECT_EQ(credentials.current().authorization, "Bearer three");
  base::write_file(access.token_file, "\n");
  credentials.renew();
  EXPECT_THROW(credentials.current(), base::Error);
}

TEST(Credentials, APluginRunsAgainOnlyWhenItsAnswerExpires) {
  const base::TempDir directory;
  const std::string count = directory.path() / "count";
  base::ManualClock clock(base::Timestamp{1'769'860'800'000});
  Access access;
  access.exec = script("echo x >>" + count + "; " +
                       printing(R"({"token":"'$(wc -l <)" + count +
                                R"()'","expirationTimestamp":"2026-01-31T12:01:00Z"})"));
  Credentials credentials(access, clock);
  EXPECT_EQ(credentials.current().authorization, "Bearer 1");
  EXPECT_EQ(credentials.current().authorization, "Bearer 1");
  clock.advance(std::chrono::seconds(55));
  EXPECT_EQ(credentials.current().authorization, "Bearer 2");
  EXPECT_TRUE(credentials.renew());
  EXPECT_EQ(credentials.current().authorization, "Bearer 3");
}

TEST(Credentials, WhatNeverChangesCannotBeRenewed) {
  base::ManualClock clock;
  Access token;
  token.token = "t";
  EXPECT_EQ(Credentials(token, clock).current().authorization, "Bearer t");
  EXPECT_FALSE(Credentials(token, clock).renew());
  Access basic;
  basic.user = "a";
  basic.password = "b";
  EXPECT_EQ(Credentials(basic, clock).current().authorization, "Basic YTpi");
  Access nobody;
  nobody.certificate_pem = "C";
  EXPECT_EQ(Credentials(nobody, clock).current().authorization, "");
  EXPECT_EQ(Credentials(nobody, clock).current().certificate_pem, "C");
}

}  // namespace
}  // namespace meridian::kube
