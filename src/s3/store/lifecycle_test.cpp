// SPDX-License-Identifier: Apache-2.0
#include "s3/store/lifecycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "s3/store/lifecycle_keeper.h"
#include "s3/store/test_store.h"

namespace meridian::s3 {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;

std::string configuration(const std::string& rule) {
  return "<LifecycleConfiguration><Rule><Status>Enabled</Status>" + rule +
         "</Rule></LifecycleConfiguration>";
}

std::string refusal(const std::string& xml) {
  const auto rules = parse_lifecycle(xml);
  return rules ? "" : rules.error().message;
}

TEST(LifecycleRules, AreReadInBothOfTheirForms) {
  const auto rules = parse_lifecycle(
      "<LifecycleConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Rule><ID>logs</ID><Prefix>logs/</Prefix><Status>Disabled</Status>"
      "<Expiration><Days>30</Days></Expiration></Rule>"
      "<Rule><ID>old</ID><Filter><And><Prefix>a/</Prefix><Tag><Key>k</Key><Value>v</Value></Tag>"
      "<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan></And></Filter><Status>Enabled</Status>"
      "<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>"
      "<NoncurrentVersionExpiration><NoncurrentDays>3</NoncurrentDays>"
      "<NewerNoncurrentVersions>2</NewerNoncurrentVersions></NoncurrentVersionExpiration></Rule>"
      "</LifecycleConfiguration>");
  ASSERT_TRUE(rules);
  ASSERT_EQ(rules->size(), 2u);
  const auto& [logs, old] = std::tie((*rules)[0], (*rules)[1]);
  EXPECT_FALSE(logs.enabled);
  EXPECT_EQ(logs.prefix, "logs/");
  EXPECT_EQ(logs.expire_days, 30);
  EXPECT_EQ(old.prefix, "a/");
  EXPECT_EQ(old.tags, (Fields{{"k", "v"}}));
  EXPECT_EQ(old.larger_than, 10u);
  EXPECT_EQ(old.noncurrent_days, 3);
  EXPECT_EQ(old.newer_noncurrent, 2u);
}

TEST(LifecycleRules, WhatIsNotUnderstoodIsRefusedAndNamed) {
  const std::string expires = "<Expiration><Days>1</Days></Expiration>";
  EXPECT_EQ(refusal(configuration("<Filter></Filter>" + expires)), "");
  EXPECT_THAT(refusal(configuration(expires)), HasSubstr("Filter"));
  EXPECT_THAT(refusal(configuration("<Filter><Owner>x</Owner></Filter>" + expires)),
              HasSubstr("<Owner>"));
  EXPECT_THAT(refusal(configuration("<Prefix/><Filter/>" + expires)), HasSubstr("one Filter"));
  EXPECT_THAT(refusal(configuration("<Filter/><Explode/>")), HasSubstr("<Explode>"));
  EXPECT_THAT(refusal(configuration("<Filter/>")), HasSubstr("action"));
  for (const char* days : {"0", "-1", "x", "", "99999999999999999999"})
    EXPECT_THAT(refusal(configuration("<Filter/><Expiration><Days>" + std::string(days) +
                                      "</Days></Expiration>")),
                HasSubstr("days"))
        << days;
  EXPECT_THAT(refusal("<LifecycleConfiguration/>"), HasSubstr("Rule"));
  EXPECT_THAT(refusal("<Other/>"), HasSubstr("Other"));
  EXPECT_NE(refusal("not xml"), "");
}

class Lifecycle : public testing::Test {
 protected:
  LifecycleCounts apply(const std::string& rule) {
    return apply_lifecycle(own_.store, "data", *parse_lifecycle(configuration(rule)),
                           own_.clock.now());
  }
  void put(const std::string& key, Fields tags = {}, std::string bytes = "x") {
    net::StringBody body(std::move(bytes));
    own_.store.put({.bucket = "data", .key = key, .tags = std::move(tags)}, body);
  }
  void set_versioning(Versioning versioning) {
    own_.store.update_bucket("data", [&](BucketRecord& b) { b.versioning = versioning; });
  }
  std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (const auto& o : own_.store.list_objects({.bucket = "data"}).objects) all.push_back(o.key);
    return all;
  }
  std::size_t versions() { return own_.store.list_versions({.bucket = "data"}).objects.size(); }

  TestStore own_;  // its clock begins at 22:13 UTC
};

TEST_F(Lifecycle, DaysEndAtTheNextMidnight) {
  put("k");
  const std::string rule = "<Filter/><Expiration><Days>1</Days></Expiration>";
  own_.clock.advance(hours(25));  // 23:13 of the next day
  EXPECT_EQ(apply(rule).expired, 0u);
  own_.clock.advance(hours(1));
  EXPECT_EQ(apply(rule).expired, 1u);
  EXPECT_THAT(keys(), ElementsAre());
}

TEST_F(Lifecycle, OnlyWhatEveryPartOfTheFilterFitsGoes) {
  put("logs/a", {{"keep", "no"}}, "long enough");
  put("logs/b", {{"keep", "yes"}}, "long enough");
  put("logs/c", {{"keep", "no"}}, "short");
  put("data/d", {{"keep", "no"}}, "long enough");
  apply(
      "<Filter><And><Prefix>logs/</Prefix><Tag><Key>keep</Key><Value>no</Value></Tag>"
      "<ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></And></Filter>"
      "<Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration>");
  EXPECT_THAT(keys(), ElementsAre("data/d", "logs/b", "logs/c"));
}

TEST_F(Lifecycle, ADisabledRuleAndADateToComeRemoveNothing) {
  put("k");
  apply("<Filter/><Expiration><Date>2099-01-01T00:00:00Z</Date></Expiration>");
  const auto disabled = parse_lifecycle(
      "<LifecycleConfiguration><Rule><Status>Disabled</Status><Filter/>"
      "<Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration></Rule></LifecycleConfiguration>");
  apply_lifecycle(own_.store, "data", *disabled, own_.clock.now());
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_F(Lifecycle, AnExpiredObjectWithVersionsGetsADeleteMarker) {
  set_versioning(Versioning::enabled);
  put("k");
  const std::string rule = "<Filter/><Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration>";
  EXPECT_EQ(apply(rule).expired, 1u);
  EXPECT_THAT(keys(), ElementsAre());
  EXPECT_EQ(versions(), 2u);
  EXPECT_FALSE(apply(rule).any()) << "a second round has nothing to do";
}

TEST_F(Lifecycle, OldVersionsGoByAgeButForTheNewestFew) {
  set_versioning(Versioning::enabled);
  for (int i = 0; i < 5; ++i) put("k");
  own_.clock.advance(hours(72));
  const std::string rule =
      "<Filter/><NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays>"
      "<NewerNoncurrentVersions>1</NewerNoncurrentVersions></NoncurrentVersionExpiration>";
  EXPECT_EQ(apply(rule).old_versions, 3u);
  EXPECT_EQ(versions(), 2u);
  EXPECT_THAT(keys(), ElementsAre("k"));
  put("k");  // what was current until now is old since now, whatever its own age
  EXPECT_EQ(apply(rule).old_versions, 1u);
}

TEST_F(Lifecycle, ADeleteMarkerGoesOnceItIsAlone) {
  set_versioning(Versioning::enabled);
  const std::string rule =
      "<Filter/><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker>"
      "</Expiration>";
  put("k");
  const auto only = own_.store.find_record("data", "k")->version_id;
  own_.store.remove("data", "k");
  EXPECT_EQ(apply(rule).markers, 0u);
  own_.store.remove_version("data", "k", only);
  EXPECT_EQ(apply(rule).markers, 1u);
  EXPECT_EQ(versions(), 0u);
}

TEST_F(Lifecycle, UnfinishedUploadsAreGivenUp) {
  own_.store.create_upload({.bucket = "data", .key = "a/1"}, true);
  own_.store.create_upload({.bucket = "data", .key = "b/1"}, true);
  own_.clock.advance(hours(49));
  EXPECT_EQ(apply("<Prefix>a/</Prefix><AbortIncompleteMultipartUpload>"
                  "<DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>")
                .uploads,
            1u);
  EXPECT_EQ(own_.store.list_uploads("data", "", "", "", "", 10).uploads.size(), 1u);
}

TEST_F(Lifecycle, WhatWasReplacedSinceItWasSeenStays) {
  put("k");
  const auto seen = *own_.store.find_record("data", "k");
  put("k");
  EXPECT_FALSE(own_.store.expire("data", {"k", seen.version_id, seen.order, Expiry::current}));
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_F(Lifecycle, ManyKeysGoInOneRound) {
  set_versioning(Versioning::enabled);
  for (int i = 0; i < 1500; ++i) put("k" + std::to_string(i % 750));  // two versions of each
  own_.clock.advance(hours(72));
  const auto counts = apply(
      "<Filter/><Expiration><Days>1</Days></Expiration>"
      "<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>"
      "</NoncurrentVersionExpiration>");
  EXPECT_EQ(counts.expired, 750u);
  EXPECT_EQ(counts.old_versions, 750u);
}

TEST_F(Lifecycle, RulesAreAppliedWhenTheyChangeAndEachHour) {
  LifecycleRounds rounds({&own_.store}, own_.clock);
  const auto set = [&](const std::string& prefix) {
    own_.store.update_bucket("data", [&](BucketRecord& bucket) {
      bucket.documents["lifecycle"] =
          configuration("<Prefix>" + prefix +
                        "</Prefix><Expiration><Date>2020-01-01T00:00:00Z</Date></Expiration>");
    });
  };
  put("a");
  EXPECT_FALSE(rounds.step().any());
  set("a");
  EXPECT_EQ(rounds.step().expired, 1u);
  put("a");
  EXPECT_FALSE(rounds.step().any()) << "not again so soon";
  own_.clock.advance(hours(1));
  EXPECT_EQ(rounds.step().expired, 1u);
  put("b");
  set("b");
  EXPECT_EQ(rounds.step().expired, 1u);
}

}  // namespace
}  // namespace meridian::s3
