// Meridian's own tables beside a user's campaigns: DATA/catalog.db, an SQLite file that anybody may
// read with any tool and that only the daemon writes.
//
//   campaigns      name (key), region, description, recorded_at
//   datasets       uri (key), campaign, region, bytes, recorded_at, labels (JSON)
//   offers         region, instance_type, market (on-demand, spot), price (USD per hour), capacity,
//                  as_of, source; of spot: zone, reclaims_per_hour, reclaimed_at
//   links          from_region, to_region, price_per_gb (USD), mbit_per_s, as_of
//   array_results  one line per row of every array: state, job, cost, metrics (JSON), columns
//
// Thread-safe; writes block for a commit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/table.h"

namespace meridian::fleet {

// A line of array_results.
struct ResultLine {
  std::string ns, array, key;
  std::int64_t row = 0;  // from 0, in the order of the rows
  std::string state, region, job, reason;
  int attempt = 0;
  std::optional<std::int64_t> started_ms, ended_ms, billable_seconds;  // UTC; not yet = nothing
  std::optional<double> cost_usd;
  std::string metrics, columns;  // JSON objects
};

class Catalog {
 public:
  // Makes and migrates the file. Error as SQLite's.
  explicit Catalog(const std::filesystem::path& file);
  ~Catalog();

  const std::filesystem::path& file() const;
  // Inserts or replaces by key; columns of the table in any order, by name.
  // Error(invalid_argument): no such table or column, a key that is null.
  std::size_t import(const std::string& table, const Table& rows);
  // Every table with its columns and how many rows it has.
  base::JsonArray tables();
  void write_results(const std::vector<ResultLine>& lines);
  void remove_results(const std::string& ns, const std::string& array);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::fleet
