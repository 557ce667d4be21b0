// SPDX-License-Identifier: Apache-2.0
#include "kube/object.h"

#include <gtest/gtest.h>

namespace meridian::kube {
namespace {

using base::Json;

Json parsed(std::string_view text) { return base::parse_json(text).value(); }

TEST(Object, ApiVersionsSplitIntoGroupAndVersion) {
  EXPECT_EQ(parse_group_version("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(parse_group_version("sagemaker.aws.amazon.com/v1"),
            (GroupVersion{"sagemaker.aws.amazon.com", "v1"}));
  for (const char* text : {"", "/v1", "apps/", "a/b/c"}) {
    EXPECT_FALSE(parse_group_version(text)) << text;
  }
  EXPECT_EQ((GroupVersion{"", "v1"}).text(), "v1");
  EXPECT_EQ((GroupVersion{"apps", "v1"}).text(), "apps/v1");
}

TEST(Object, PathsNameCollectionsObjectsAndSubresources) {
  const ResourceId jobs{"sagemaker.aws.amazon.com", "v1", "trainingjobs"};
  EXPECT_EQ(jobs.path(), "/apis/sagemaker.aws.amazon.com/v1/trainingjobs");
  EXPECT_EQ(jobs.path("default"),
            "/apis/sagemaker.aws.amazon.com/v1/namespaces/default/trainingjobs");
  EXPECT_EQ(jobs.path("default", "a", "status"),
            "/apis/sagemaker.aws.amazon.com/v1/namespaces/default/trainingjobs/a/status");
  EXPECT_EQ((ResourceId{"", "v1", "secrets"}).path("x", "a/b c"),
            "/api/v1/namespaces/x/secrets/a%2Fb%20c");
  EXPECT_EQ((ResourceId{"", "v1", "namespaces"}).path("", "x"), "/api/v1/namespaces/x");
}

TEST(Object, ReadsEveryNamedPart) {
  const Json job = parsed(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","namespace":"n",
    "uid":"u","resourceVersion":"7","generation":3,"deletionTimestamp":"2026-01-31T12:00:00Z",
    "labels":{"l":"1"},"annotations":{"x":"2"},"finalizers":["f","g"],
    "ownerReferences":[{"apiVersion":"g/v1","kind":"P","name":"p","uid":"q","controller":true}]}})");
  EXPECT_EQ(key_of(job), (ObjectKey{"n", "a"}));
  EXPECT_EQ(key_of(job).text(), "n/a");
  EXPECT_EQ((ObjectKey{"", "a"}).text(), "a");
  EXPECT_EQ(kind_of(job), "K");
  EXPECT_EQ(api_version_of(job), "g/v1");
  EXPECT_EQ(uid_of(job), "u");
  EXPECT_EQ(resource_version_of(job), "7");
  EXPECT_EQ(generation_of(job), 3);
  EXPECT_TRUE(is_deleting(job));
  EXPECT_EQ(find_label(job, "l"), "1");
  EXPECT_EQ(find_annotation(job, "x"), "2");
  EXPECT_FALSE(find_annotation(job, "l"));
  EXPECT_EQ(finalizers_of(job), (std::vector<std::string>{"f", "g"}));
  ASSERT_EQ(owners_of(job).size(), 1u);
  EXPECT_EQ(owners_of(job)[0].uid, "q");
  EXPECT_EQ(owners_of(job)[0].controller, OwnerReference::Controller::yes);
  EXPECT_EQ(owners_of(job)[0].block_deletion, OwnerReference::BlockDeletion::no);
}

TEST(Object, OddShapesReadAsEmpty) {
  for (
      const char* text :
      {"null", "5", "[]", "{}", R"({"metadata":null})", R"({"metadata":"x"})",
       R"({"metadata":{"name":5,"labels":[],"finalizers":{},"ownerReferences":3,"generation":"a"}})",
       R"({"metadata":{"labels":{"l":1},"finalizers":[1,null],"ownerReferences":[]}})"}) {
    const Json object = parsed(text);
    EXPECT_EQ(key_of(object), ObjectKey{}) << text;
    EXPECT_EQ(generation_of(object), 0) << text;
    EXPECT_FALSE(is_deleting(object)) << text;
    EXPECT_FALSE(find_label(object, "l")) << text;
    EXPECT_TRUE(finalizers_of(object).empty()) << text;
    EXPECT_TRUE(owners_of(object).empty()) << text;
  }
}

TEST(Object, WritesMakeTheMembersTheyNeed) {
  Json object;
  set_label(object, "a", "1");
  set_annotation(object, "b", "2");
  EXPECT_TRUE(add_finalizer(object, "f"));
  EXPECT_FALSE(add_finalizer(object, "f"));
  EXPECT_EQ(object, parsed(R"({"metadata":{"labels":{"a":"1"},"annotations":{"b":"2"},
                               "finalizers":["f"]}})"));
  EXPECT_FALSE(remove_finalizer(object, "g"));
  EXPECT_TRUE(remove_finalizer(object, "f"));
  EXPECT_FALSE(remove_finalizer(object, "f"));
  EXPECT_FALSE(object.at("metadata").get_object().contains("finalizers"));
}

TEST(Object, AnOwnerIsThereOnce) {
  Json object;
  OwnerReference owner{.api_version = "g/v1", .kind = "P", .name = "p", .uid = "1"};
  add_owner(object, owner);
  owner.controller = OwnerReference::Controller::no;
  add_owner(object, owner);
  owner.uid = "2";
  add_owner(object, owner);
  const auto owners = owners_of(object);
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners[0].controller, OwnerReference::Controller::no);
  EXPECT_EQ(owners[1].uid, "2");
}

TEST(Object, TimesAreWrittenAsKubernetesWritesThem) {
  const base::Timestamp t{1'769'860'800'123};
  EXPECT_EQ(time_text(t), "2026-01-31T12:00:00Z");
  EXPECT_EQ(micro_time_text(t), "2026-01-31T12:00:00.123000Z");
  EXPECT_EQ(parse_time("2026-01-31T12:00:00Z"), base::Timestamp{1'769'860'800'000});
  EXPECT_EQ(parse_time("2026-01-31T12:00:00.123456Z"), t);
  EXPECT_EQ(parse_time("2026-01-31T13:00:00+01:00"), base::Timestamp{1'769'860'800'000});
  for (const char* text : {"", "yesterday", "20260131T120000Z", "2026-01-31", "2026-01-31T12:00:00",
                           "2026-01-31 12:00:00Z", "2026-13-31T12:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

}  // namespace
}  // namespace meridian::kube
