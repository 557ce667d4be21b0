// One read-only query against a relational database: the campaigns of a user, or the catalog.
//
//   Table rows = query({.database = "/data/campaigns.db", .catalog = catalog_file},
//                      "SELECT region, uri FROM campaigns WHERE year = 2025");
//
// The database is an SQLite file, opened read-only; with `catalog` given, the catalog's tables are
// there too (as `meridian.datasets`, or without the prefix where the database has no such table).
// Nothing can be written, attached or loaded by the query; time and rows are bounded.
//
// Blocking, for at most the time limit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "fleet/table.h"

namespace meridian::fleet {

struct QuerySource {
  std::filesystem::path database;  // empty: only the catalog
  std::filesystem::path catalog;   // empty: only the database
};

struct QueryLimits {
  base::Duration time{10'000};
  std::size_t rows = 1'000'000;
};

// Error: invalid_argument (SQL's own message; more than one statement; a statement that writes; two
// columns of one name; a BLOB), not_found (no such file), deadline_exceeded, resource_exhausted
// (more rows).
Table query(const QuerySource& source, const std::string& sql, QueryLimits limits = {});

// "sqlite:///data/campaigns.db", "file:…" or a path → the path. Error(unimplemented) for another
// kind of database, which it names.
std::filesystem::path database_file(const std::string& url);

}  // namespace meridian::fleet
