// SPDX-License-Identifier: Apache-2.0
#include "aws/arn.h"

#include <gtest/gtest.h>

namespace meridian::aws {
namespace {

TEST(Arn, IsTakenApartAndPutTogether) {
  const std::string text = "arn:aws:sagemaker:us-west-2:000000000000:training-job/digits-1";
  const auto arn = parse_arn(text);
  ASSERT_TRUE(arn);
  EXPECT_EQ(arn->service, "sagemaker");
  EXPECT_EQ(arn->region, "us-west-2");
  EXPECT_EQ(arn->account, "000000000000");
  EXPECT_EQ(arn->resource_type(), "training-job");
  EXPECT_EQ(arn->resource_name(), "digits-1");
  EXPECT_EQ(arn->text(), text);
}

TEST(Arn, ResourcesMayHoldColonsAndSlashes) {
  EXPECT_EQ(parse_arn("arn:aws:logs:r:000000000000:log-group:/a/b:*")->resource_name(), "/a/b:*");
  EXPECT_EQ(parse_arn("arn:aws:iam::000000000000:role/path/name")->resource_name(), "path/name");
  EXPECT_EQ(parse_arn("arn:aws-cn:s3:::bucket")->resource_name(), "bucket");
  EXPECT_EQ(parse_arn("arn:aws:s3:::bucket")->resource_type(), "");
}

TEST(Arn, WhatIsNoArnIsNothing) {
  for (const char* text :
       {"", "arn", "arn:aws:s3", "urn:aws:s3:::b", "arn:gcp:s3:::b", "arn:aws::::b",
        "arn:aws:s3:::", "arn:aws:iam::1234:role/a", "arn:aws:iam::12345678901x:role/a"}) {
    EXPECT_FALSE(parse_arn(text)) << text;
  }
}

}  // namespace
}  // namespace meridian::aws
