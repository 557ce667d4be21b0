// SPDX-License-Identifier: Apache-2.0
#include "fleet/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/file.h"
#include "fleet/database.h"

namespace meridian::fleet {
namespace {

using base::Code;
using base::Json;
using base::JsonArray;
using testing::ElementsAre;
using testing::HasSubstr;

class CatalogTest : public testing::Test {
 protected:
  CatalogTest() {
    sqlite3* db = nullptr;
    sqlite3_open(campaigns_.c_str(), &db);
    sqlite3_exec(db,
                 "CREATE TABLE drives (id INTEGER, city TEXT, image BLOB);"
                 "INSERT INTO drives VALUES (1, 'Bern', x'ff'), (2, 'Oslo', NULL);",
                 nullptr, nullptr, nullptr);
    sqlite3_close(db);
  }
  Code refusal(const std::string& sql, QueryLimits limits = {}) {
    try {
      query({.database = campaigns_, .catalog = catalog_.file()}, sql, limits);
    } catch (const base::Error& error) {
      message_ = error.what();
      return error.code();
    }
    return Code::internal;
  }
  base::TempDir dir_{"catalog"};
  std::filesystem::path campaigns_ = dir_.path() / "campaigns of mine.db";
  Catalog catalog_{dir_.path() / "catalog.db"};
  std::string message_;
};

TEST_F(CatalogTest, ImportedLinesAreJoinedWithTheUsersTables) {
  EXPECT_EQ(catalog_.import("datasets", {.columns = {"uri", "campaign", "bytes"},
                                         .rows = {{"s3://b/1", "Bern", "12"}}}),
            1u);
  const Table rows =
      query({.database = campaigns_, .catalog = catalog_.file()},
            "SELECT d.id, s.uri, s.bytes FROM drives d JOIN datasets s ON s.campaign = d.city");
  EXPECT_THAT(rows.columns, ElementsAre("id", "uri", "bytes"));
  EXPECT_EQ(rows.rows, (std::vector{JsonArray{1, "s3://b/1", 12}}));
}

TEST_F(CatalogTest, ALineOfTheSameKeyIsReplaced) {
  const Table first{.columns = {"name", "region"}, .rows = {{"a", "us-west-2"}}};
  const Table second{.columns = {"region", "name"}, .rows = {{"eu-west-1", "a"}}};
  catalog_.import("campaigns", first);
  catalog_.import("campaigns", second);
  EXPECT_EQ(query({.database = {}, .catalog = catalog_.file()},
                  "SELECT region, count(*) AS n FROM campaigns")
                .rows,
            (std::vector{JsonArray{"eu-west-1", 1}}));
}

TEST_F(CatalogTest, AnImportThatDoesNotFitIsRefusedWhole) {
  const auto refused = [&](const std::string& table, const Table& rows) {
    try {
      catalog_.import(table, rows);
      return std::string();
    } catch (const base::Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(refused("datasets", {.columns = {"uri", "regoin"}, .rows = {{"s3://b", "x"}}}),
              HasSubstr("no column 'regoin' (did you mean 'region'?)"));
  EXPECT_THAT(refused("datasets", {.columns = {"region"}, .rows = {{"x"}}}),
              HasSubstr("needs the column 'uri'"));
  EXPECT_THAT(refused("datasets", {.columns = {"uri"}, .rows = {{"s3://b"}, {nullptr}}}),
              HasSubstr("row 2: 'uri' is empty"));
  EXPECT_THAT(refused("array_results", {.columns = {"key"}, .rows = {}}),
              HasSubstr("is not a table to import into"));
  EXPECT_EQ(
      query({.database = {}, .catalog = catalog_.file()}, "SELECT * FROM datasets").rows.size(),
      0u);
}

TEST_F(CatalogTest, AQueryWritesNothing) {
  for (const char* sql :
       {"DELETE FROM drives", "CREATE TABLE x (a)", "ATTACH 'y.db' AS y", "PRAGMA user_version = 9",
        "SELECT load_extension('x')", "INSERT INTO meridian.campaigns (name) VALUES ('z')",
        "SELECT 1; DELETE FROM drives"}) {
    EXPECT_EQ(refusal(sql), Code::invalid_argument) << sql << ": " << message_;
  }
}

TEST_F(CatalogTest, AQueryIsBoundedInTimeAndRows) {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";
  EXPECT_EQ(refusal(endless + "sum(i) AS s FROM n", {.time = base::Duration(50)}),
            Code::deadline_exceeded);
  EXPECT_EQ(refusal(endless + "i FROM n", {.rows = 10}), Code::resource_exhausted);
}

TEST_F(CatalogTest, WhatIsWrongWithAQueryIsTold) {
  EXPECT_EQ(refusal("SELECT cty FROM drives"), Code::invalid_argument);
  EXPECT_THAT(message_, HasSubstr("no such column: cty"));
  EXPECT_EQ(refusal("SELECT id, id FROM drives"), Code::invalid_argument);
  EXPECT_THAT(message_, HasSubstr("two columns are called 'id'"));
  EXPECT_EQ(refusal("SELECT image FROM drives"), Code::invalid_argument);
  EXPECT_THAT(message_, HasSubstr("row 1, column 'image' holds bytes"));
  EXPECT_EQ(refusal("  -- nothing"), Code::invalid_argument);
}

TEST_F(CatalogTest, AnotherKindOfDatabaseIsNamed) {
  EXPECT_EQ(database_file("sqlite:///x/y.db"), "/x/y.db");
  EXPECT_EQ(database_file("/x/y.db"), "/x/y.db");
  EXPECT_THROW(database_file("mysql://host/db"), base::Error);
}

TEST_F(CatalogTest, ItsTablesAreListed) {
  const JsonArray tables = catalog_.tables();
  ASSERT_EQ(tables.size(), 5u);
  EXPECT_EQ(base::string_or(tables[0], "Name"), "array_results");
  EXPECT_EQ(base::int_or(tables[2], "Rows", -1), 0);
}

TEST_F(CatalogTest, AFileOfTheFirstVersionKeepsItsOffersAndTakesZones) {
  const auto file = dir_.path() / "older.db";
  {
    const Catalog made(file);
  }
  sqlite3* db = nullptr;
  sqlite3_open(file.c_str(), &db);
  sqlite3_exec(
      db,
      "ALTER TABLE offers DROP COLUMN zone; ALTER TABLE offers DROP COLUMN reclaimed_at;"
      "ALTER TABLE offers DROP COLUMN reclaims_per_hour; PRAGMA user_version = 1;"
      "INSERT INTO offers (region, instance_type, market, price) VALUES ('a', 't', 'spot', 1);",
      nullptr, nullptr, nullptr);
  sqlite3_close(db);
  Catalog catalog(file);
  catalog.import("offers", {.columns = {"region", "instance_type", "market", "zone"},
                            .rows = {{"a", "t", "spot", "a-1"}}});
  EXPECT_EQ(query({.database = {}, .catalog = file}, "SELECT price, zone FROM offers").rows,
            (std::vector{JsonArray{1.0, "a-1"}}));
}

}  // namespace
}  // namespace meridian::fleet
