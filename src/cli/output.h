// One list or document, printed as a table, JSON, YAML or names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"

namespace meridian::cli {

enum class Format { table, wide, json, yaml, name };
// Error(invalid_argument) that lists what there is.
Format parse_format(std::string_view text);

// Columns as wide as their longest cell, two blanks between, the last one unpadded.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// Block style YAML that reads back to the same value in the core schema.
std::string to_yaml(const base::Json& value);
// For json and yaml.
void print_value(std::ostream& out, const base::Json& value, Format format);

}  // namespace meridian::cli
