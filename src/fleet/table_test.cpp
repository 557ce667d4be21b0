// SPDX-License-Identifier: Apache-2.0
#include "fleet/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meridian::fleet {
namespace {

using base::Json;
using base::JsonArray;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Manifest, TheArticlesFourLinesAreRegionAndLocation) {
  const auto table = parse_manifest(
      "us-east-1,s3://data-us-east-1/\nus-west-2, s3://data-us-west-2/\n"
      "eu-west-1 , s3://data-eu-west-1/ \r\n\neu-central-1,s3://data-eu-central-1/");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->columns, ElementsAre("region", "s3_location"));
  ASSERT_EQ(table->rows.size(), 4u);
  EXPECT_EQ(table->rows[2], (JsonArray{"eu-west-1", "s3://data-eu-west-1/"}));
}

TEST(Manifest, AFirstLineOfNamesIsAHeader) {
  const auto table = parse_manifest("region, lr, image\nus-west-2, 0.1, \"a, \"\"b\"\"\"\n");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->columns, ElementsAre("region", "lr", "image"));
  EXPECT_EQ(table->rows, (std::vector{JsonArray{"us-west-2", "0.1", "a, \"b\""}}));
}

TEST(Manifest, WhatIsWrongIsToldWithItsLine) {
  EXPECT_THAT(parse_manifest("us-west-2,a\n\nus-west-2\n").error().text(),
              HasSubstr("line 3, column 1: has 1 values, the columns are region, s3_location"));
  EXPECT_THAT(parse_manifest("region,\"x\n").error().text(), HasSubstr("no closing"));
  EXPECT_THAT(parse_manifest("a,b,a\n").error().text(), HasSubstr("two columns have one name"));
  EXPECT_THAT(parse_manifest("us-west-2,\xff\n").error().text(), HasSubstr("not UTF-8"));
}

TEST(Manifest, WhatIsWrittenIsReadAgain) {
  const Table table{.columns = {"region", "s3_location", "column3"},
                    .rows = {{"us-west-2", "s3://b/x", 0.5}, {"eu-west-1", "s3://b/y", nullptr}}};
  EXPECT_EQ(format_manifest(table), "us-west-2,s3://b/x,0.5\neu-west-1,s3://b/y,\n");
  const auto again = parse_manifest(format_manifest(table));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->columns, table.columns);
  EXPECT_EQ(again->rows[0], (JsonArray{"us-west-2", "s3://b/x", "0.5"}));
}

TEST(Manifest, AValueThatALineCannotHoldIsNamed) {
  const Table table{.columns = {"region", "note"}, .rows = {{"us-west-2", "a, b"}}};
  try {
    format_manifest(table);
    FAIL() << "written";
  } catch (const base::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("row 1, column 'note': the value 'a, b'"));
  }
}

TEST(Rows, ObjectsOfOtherColumnsAreRefused) {
  const JsonArray objects{Json{{"a", 1}, {"b", true}}, Json{{"a", 2}}};
  EXPECT_THROW(from_objects(objects), base::Error);
  const Table table = from_objects({objects[0]});
  EXPECT_EQ(table.rows[0], (JsonArray{1, "true"}));
}

TEST(Rows, AColumnHasTheTypeOfItsValues) {
  const Table table{.columns = {"i", "r", "t", "m", "n"},
                    .rows = {{1, 1, "a", "a", nullptr}, {2, 0.5, nullptr, 1, nullptr}}};
  EXPECT_EQ(type_of_column(table, 0), "integer");
  EXPECT_EQ(type_of_column(table, 1), "real");
  EXPECT_EQ(type_of_column(table, 2), "text");
  EXPECT_EQ(type_of_column(table, 3), "mixed");
  EXPECT_EQ(type_of_column(table, 4), "null");
}

TEST(Csv, TheFirstLineIsAlwaysItsHeader) {
  const auto table = parse_csv("name,region\ndrives,us-west-2\n");
  ASSERT_TRUE(table);
  EXPECT_THAT(table->columns, ElementsAre("name", "region"));
  EXPECT_EQ(table->rows.size(), 1u);
}

}  // namespace
}  // namespace meridian::fleet
