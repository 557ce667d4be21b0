// SPDX-License-Identifier: Apache-2.0
#include "s3/objects.h"

#include <gtest/gtest.h>

namespace meridian::s3 {
namespace {

TEST(Uri, AnS3UriGivesBucketAndKeyAsTheyStand) {
  const auto uri = parse_uri("s3://my-bucket/foo/bar/s3://baz+%20 x");
  ASSERT_TRUE(uri);
  EXPECT_EQ(uri->bucket, "my-bucket");
  EXPECT_EQ(uri->key, "foo/bar/s3://baz+%20 x");
}

TEST(Uri, ABucketAloneHasAnEmptyKey) {
  for (const char* text : {"s3://bucket", "s3://bucket/"}) {
    const auto uri = parse_uri(text);
    ASSERT_TRUE(uri) << text;
    EXPECT_EQ(uri->bucket, "bucket");
    EXPECT_EQ(uri->key, "");
  }
}

TEST(Uri, HttpsFormsAreReadInPathAndVirtualHostStyle) {
  for (const char* text :
       {"https://s3.us-west-2.amazonaws.com/bucket/a%20b/c?versionId=1",
        "https://bucket.s3.us-west-2.amazonaws.com/a%20b/c", "http://bucket.localhost:8470/a%20b/c",
        "http://127.0.0.1:8470/bucket/a%20b/c"}) {
    const auto uri = parse_uri(text);
    ASSERT_TRUE(uri) << text;
    EXPECT_EQ(uri->text(), "s3://bucket/a b/c") << text;
  }
}

TEST(Uri, WhatIsNotAnS3UriIsRefusedWithTheText) {
  for (const char* text : {"", "bucket/key", "s3:/bucket/key", "s3://", "s3:///key", "s3://a/b",
                           "s3://bad bucket/key", "file:///x", "https://host"}) {
    const auto uri = parse_uri(text);
    ASSERT_FALSE(uri) << text;
    EXPECT_NE(uri.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace meridian::s3
