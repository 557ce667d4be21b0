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
// Prints such an answer: table, csv (RFC 4180), json or yaml. Error(invalid_argument) for another
// format.
void print_answer(Context& context, const base::Json& answer, const std::string& format);
// The column "metrics", which holds a JSON object in each row, as a column per metric.
base::Json spread_metrics(const base::Json& answer);

}  // namespace meridian::cli
