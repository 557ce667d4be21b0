// Rows with named columns: what a query, a manifest or a resource gives an array.
//
// Pure; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace meridian::fleet {

// A value is null, a number or a text.
struct Table {
  std::vector<std::string> columns;   // distinct
  std::vector<base::JsonArray> rows;  // each as long as columns

  base::JsonObject row(std::size_t index) const;  // column → value
};

// "integer", "real", "text", "mixed", or "null" when every value is.
std::string type_of_column(const Table& table, std::size_t column);

// A line per row: values separated by commas, blanks around them tolerated, empty lines and lines
// that begin with '#' left out; a value with commas or blanks at its ends stands in double quotes,
// "" within it is one. A first line of names is a header: it holds no region name, no URI and no
// number. Without one the columns are region, s3_location, column3, column4, … (the form of the
// article). Numbers stay text. At most 64 MiB and 1,000,000 rows.
base::Result<Table> parse_manifest(std::string_view text);

// The same lines with a header always (files for `meridian catalog import`).
base::Result<Table> parse_csv(std::string_view text);

// Rows as a shell script with `IFS=,` reads them: no header, no quotes. Error(invalid_argument)
// names the value that such a line cannot hold, and the row.
std::string format_manifest(const Table& table);

// From a list of objects with the same keys: [{"region": "us-west-2", "lr": 0.1}, …].
// Error(invalid_argument): which row has other keys, or a value that is neither text, number,
// boolean (taken as text) nor null.
Table from_objects(const base::JsonArray& objects);

// A value as people write it: text as it is, numbers at full precision, null as "".
std::string text_of(const base::Json& value);

}  // namespace meridian::fleet
