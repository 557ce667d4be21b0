// SPDX-License-Identifier: Apache-2.0
#include "fleet/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using testing::ElementsAre;
using testing::HasSubstr;

const JsonObject kRow{{"region", "us-west-2"}, {"lr", 0.1}, {"n", 2}, {"none", nullptr}};

std::string refusal(const Json& specification) {
  try {
    fill(specification, kRow);
    return "";
  } catch (const base::Error& error) {
    return error.what();
  }
}

TEST(Template, AReferenceAloneKeepsTheColumnsType) {
  const Json filled = fill({{"n", "$(row.n)"}, {"list", JsonArray{"$(row.lr)"}}}, kRow);
  EXPECT_EQ(filled, (Json{{"n", 2}, {"list", JsonArray{0.1}}}));
}

TEST(Template, WithinATextTheValueIsText) {
  EXPECT_EQ(fill("s3://b-$(row.region)/$(row.n)/x", kRow), "s3://b-us-west-2/2/x");
}

TEST(Template, ADoubledDollarStays) { EXPECT_EQ(fill("echo $$(date)", kRow), "echo $(date)"); }

TEST(Template, WhatIsNoReferenceIsToldWithItsPath) {
  EXPECT_THAT(refusal({{"a", JsonArray{JsonObject{{"b", "x $(date)"}}}}}),
              HasSubstr("a[0].b: '$(date)' is not a reference to a column"));
  EXPECT_THAT(refusal({{"a", "$(row.regoin)"}}),
              HasSubstr("a: rows have no column 'regoin' (did you mean 'region'?)"));
  EXPECT_THAT(refusal({{"a", "$(row.none)"}}), HasSubstr("a: column 'none' is NULL"));
  EXPECT_THAT(refusal({{"a", "$(row.lr"}}), HasSubstr("is not a reference"));
}

TEST(Template, ItsColumnsAreKnownWithoutARow) {
  EXPECT_THAT(columns_of({{"a", "$(row.x)-$(row.y)"}, {"b", "$(row.x)"}}), ElementsAre("x", "y"));
}

TEST(Template, ValuesTakeTheTypesOfTheApi) {
  const auto& shape = *aws::get_model("sagemaker").find_operation("CreateTrainingJob")->input;
  const Json request = conform(shape, {{"HyperParameters", {{"lr", 0.1}, {"epochs", 3}}},
                                       {"ResourceConfig", {{"InstanceCount", "2"}}}});
  EXPECT_EQ(request, (Json{{"HyperParameters", {{"lr", "0.1"}, {"epochs", "3"}}},
                           {"ResourceConfig", {{"InstanceCount", 2}}}}));
}

}  // namespace
}  // namespace meridian::fleet
