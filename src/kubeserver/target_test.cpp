// SPDX-License-Identifier: Apache-2.0
#include "kubeserver/target.h"

#include <gtest/gtest.h>

#include "kube/status.h"

namespace meridian::kubeserver {
namespace {

// "group|version|namespace|plural|name|subresource"; "" when it is none.
std::string shown(std::string_view path) {
  const auto t = parse_target(path);
  if (!t) return "";
  return t->group + "|" + t->version + "|" + t->ns + "|" + t->plural + "|" + t->name + "|" +
         t->subresource;
}

TEST(Target, PathsOfObjectsAndCollections) {
  EXPECT_EQ(shown("/api/v1/namespaces"), "|v1||namespaces||");
  EXPECT_EQ(shown("/api/v1/namespaces/a"), "|v1||namespaces|a|");
  EXPECT_EQ(shown("/api/v1/namespaces/a/status"), "|v1||namespaces|a|status");
  EXPECT_EQ(shown("/api/v1/namespaces/a/finalize"), "|v1||namespaces|a|finalize");
  EXPECT_EQ(shown("/api/v1/namespaces/a/secrets"), "|v1|a|secrets||");
  EXPECT_EQ(shown("/api/v1/namespaces/a/secrets/s"), "|v1|a|secrets|s|");
  EXPECT_EQ(shown("/apis/g.test/v1/namespaces/a/jobs/j/status"), "g.test|v1|a|jobs|j|status");
  EXPECT_EQ(shown("/apis/g.test/v1/jobs"), "g.test|v1||jobs||");
  EXPECT_EQ(shown("/apis/g.test/v1/rooms/r"), "g.test|v1||rooms|r|");
  EXPECT_EQ(shown("/apis/g.test/v1"), "g.test|v1||||");
  EXPECT_EQ(shown("/apis/g.test/v1/rooms/a%20b"), "g.test|v1||rooms|a b|");
}

TEST(Target, OtherPathsAreNone) {
  for (const char* path : {"", "/", "/api", "/other/v1/x", "/apis/g/v1/a/b/c/d", "/api/v1//x",
                           "/api/v1/x/%2F", "/api/v1/x/%zz", "/api/v1/namespaces/a/b/c/d/e"}) {
    EXPECT_EQ(shown(path), "") << path;
  }
}

TEST(Target, VerbsFollowFromMethodNameAndWatch) {
  const Target all{.plural = "jobs"}, one{.plural = "jobs", .name = "j"};
  EXPECT_EQ(verb_of("GET", all, Query("")), "list");
  EXPECT_EQ(verb_of("GET", one, Query("")), "get");
  EXPECT_EQ(verb_of("GET", all, Query("watch=true")), "watch");
  EXPECT_EQ(verb_of("GET", all, Query("watch=1")), "watch");
  EXPECT_EQ(verb_of("GET", all, Query("watch=false")), "list");
  EXPECT_EQ(verb_of("DELETE", all, Query("")), "deletecollection");
  EXPECT_EQ(verb_of("DELETE", one, Query("")), "delete");
  EXPECT_EQ(verb_of("PATCH", one, Query("")), "patch");
  EXPECT_EQ(verb_of("TRACE", one, Query("")), "");
}

TEST(Target, QueriesAreDecodedAndChecked) {
  const Query query("labelSelector=a+in+(b%2Cc)&limit=5&watch=maybe&empty=");
  EXPECT_EQ(query.get("labelSelector"), "a in (b,c)");
  EXPECT_EQ(query.number("limit"), 5);
  EXPECT_FALSE(query.number("empty"));
  EXPECT_FALSE(query.has("empty"));
  EXPECT_THROW((void)query.flag("watch"), kube::StatusError);
  EXPECT_THROW((void)Query("limit=x").number("limit"), kube::StatusError);
}

}  // namespace
}  // namespace meridian::kubeserver
