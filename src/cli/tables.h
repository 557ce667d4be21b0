// Answers of catalog queries as people and programs read them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "cli/commands.h"

namespace meridian::cli {

// A value of a row: text as it is, numbers short, null as "-".
std::string cell(const base::Json& value);
// 'it''s': a text within a query.
std::string sql_quote(std::string_view text);
// {Columns, Rows, Count} of one SELECT.
base::Json ask_catalog(Context& context, const std::string& sql);
// Prints it: table, csv, json or yaml. Error(invalid_argument) for another format.
void print_query(Context& context, const std::string& sql, const std::string& format);

}  // namespace meridian::cli
