// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubeserver/test_server.h"

namespace meridian::kubeserver {
namespace {

using base::Json;
using base::JsonObject;
using identity::Role;
using testing::HasSubstr;

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", job_definition());
    server.create("/api/v1/namespaces", JsonObject{{"metadata", {{"name", "team-a"}}}});
    server.create(kJobs, job("a"));
  }
  std::string token(std::vector<identity::Grant> grants) {
    return server.tokens.add("ann", std::move(grants)).secret;
  }
  int status(const std::string& secret, const std::string& method, const std::string& target,
             const Json& body = nullptr) {
    const Answer answer =
        server.call(method, target, body.is_null() ? "" : base::to_text(body),
                    {{"Authorization", "Bearer " + secret},
                     {"Content-Type",
                      method == "PATCH" ? "application/merge-patch+json" : "application/json"}});
    return answer.status;
  }

  const std::string team = "/apis/example.test/v1/namespaces/team-a/jobs";
  const std::string secrets = "/api/v1/namespaces/team-a/secrets";
  const std::string namespaces = "/api/v1/namespaces";
  TestServer server;
};

TEST_F(AccessTest, WithoutAGoodTokenThereIsNothingButHealth) {
  EXPECT_EQ(status("mk-000000000000-0", "GET", kJobs), 401);
  const Answer basic = server.call("GET", kJobs, "", {{"Authorization", "Basic YTpi"}});
  EXPECT_EQ(basic.status, 401);
  EXPECT_EQ(basic.headers.get("www-authenticate"), "Bearer");
  EXPECT_EQ(base::string_or(basic.body, "reason"), "Unauthorized");
  EXPECT_EQ(status("nonsense", "GET", "/api"), 401);
  EXPECT_EQ(status("nonsense", "GET", "/version"), 200);
  EXPECT_EQ(status("nonsense", "GET", "/readyz"), 200);
}

TEST_F(AccessTest, AViewerReadsButNoSecrets) {
  const std::string viewer = token({{Role::viewer, ""}});
  EXPECT_EQ(status(viewer, "GET", kJobs), 200);
  EXPECT_EQ(status(viewer, "GET", "/apis/example.test/v1/jobs"), 200);
  EXPECT_EQ(status(viewer, "GET", namespaces), 200);
  EXPECT_EQ(status(viewer, "GET", secrets), 403);
  EXPECT_EQ(status(viewer, "POST", kJobs, job("b")), 403);
  EXPECT_EQ(status(viewer, "DELETE", kJobs + "/a"), 403);
  EXPECT_EQ(status(viewer, "PATCH", kJobs + "/a", JsonObject()), 403);
}

TEST_F(AccessTest, AnEditorWritesInItsNamespaceOnly) {
  const std::string editor = token({{Role::editor, "team-a"}});
  EXPECT_EQ(status(editor, "POST", team, job("b")), 201);
  EXPECT_EQ(status(editor, "GET", secrets), 200);
  EXPECT_EQ(status(editor, "DELETE", team + "/b"), 200);
  EXPECT_EQ(status(editor, "GET", kJobs), 403);
  EXPECT_EQ(status(editor, "GET", "/apis/example.test/v1/jobs"), 403);
  EXPECT_EQ(status(editor, "GET", namespaces), 403);
  EXPECT_EQ(status(editor, "GET", namespaces + "/team-a"), 200);
  EXPECT_EQ(status(editor, "GET", namespaces + "/default"), 403);
  EXPECT_EQ(status(editor, "DELETE", namespaces + "/team-a"), 403);
}

TEST_F(AccessTest, OnlyAdminsOfEverythingWriteOutsideOfNamespaces) {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const Json room = JsonObject{{"metadata", {{"name", "x"}}}};
  for (const auto& grant :
       {identity::Grant{Role::editor, ""}, identity::Grant{Role::admin, "team-a"}}) {
    const std::string other = token({grant});
    EXPECT_EQ(status(other, "POST", namespaces, room), 403);
    EXPECT_EQ(status(other, "DELETE", definitions + "/jobs.example.test"), 403);
    EXPECT_EQ(status(other, "GET", definitions), 200);
  }
  EXPECT_EQ(status(token({{Role::admin, ""}}), "POST", namespaces, room), 201);
}

TEST_F(AccessTest, ARefusalSaysWhoMayNotDoWhatWhere) {
  const std::string viewer = token({{Role::viewer, ""}});
  const Answer refused =
      server.call("DELETE", kJobs + "/a", "", {{"Authorization", "Bearer " + viewer}});
  EXPECT_EQ(base::string_or(refused.body, "message"),
            "jobs.example.test \"a\" is forbidden: User \"ann\" cannot delete resource \"jobs\" in "
            "API group \"example.test\" in the namespace \"default\"");
  EXPECT_EQ(base::string_or(refused.body, "reason"), "Forbidden");
}

TEST_F(AccessTest, ReviewsSayWhatOneMayDo) {
  const std::string editor = token({{Role::editor, "team-a"}});
  const auto may = [&](const std::string& verb, const std::string& group,
                       const std::string& resource, const std::string& ns) {
    const Json review =
        JsonObject{{"spec", JsonObject{{"resourceAttributes", JsonObject{{"verb", verb},
                                                                         {"group", group},
                                                                         {"resource", resource},
                                                                         {"namespace", ns}}}}}};
    const Answer answer =
        server.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                    base::to_text(review), {{"Authorization", "Bearer " + editor}});
    EXPECT_EQ(answer.status, 201) << answer.text;
    return answer.body.at("status").at("allowed").as_bool();
  };
  EXPECT_TRUE(may("create", "example.test", "jobs", "team-a"));
  EXPECT_FALSE(may("create", "example.test", "jobs", "default"));
  EXPECT_FALSE(may("create", "example.test", "jobs", ""));
  EXPECT_FALSE(may("create", "", "namespaces", ""));
  EXPECT_TRUE(may("*", "*", "*", "team-a"));
  EXPECT_FALSE(may("*", "*", "*", ""));
}

TEST_F(AccessTest, RulesAndSubjectAreShown) {
  const std::string viewer = token({{Role::viewer, "team-a"}});
  const HeaderList headers{{"Authorization", "Bearer " + viewer}};
  const auto rules = [&](const std::string& ns) {
    return server
        .call("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
              base::to_text(JsonObject{{"spec", JsonObject{{"namespace", ns}}}}), headers)
        .text;
  };
  EXPECT_THAT(rules("team-a"), HasSubstr("\"configmaps\""));
  EXPECT_THAT(rules("team-a"), testing::Not(HasSubstr("\"secrets\"")));
  EXPECT_THAT(rules("default"), testing::Not(HasSubstr("\"configmaps\"")));
  const Answer self =
      server.call("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", headers);
  EXPECT_THAT(self.text, HasSubstr("\"username\":\"ann\""));
  EXPECT_THAT(self.text, HasSubstr("meridian:viewer:team-a"));
}

}  // namespace
}  // namespace meridian::kubeserver
