// Rows of arrays (manifests, CSV) and the templates that they fill.
//
// LINK: fleet
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fleet/table.h"
#include "fleet/template.h"

using namespace meridian;

namespace {

void check_table(const fleet::Table& table) {
  for (const auto& row : table.rows)
    if (row.size() != table.columns.size()) std::abort();
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (fleet::type_of_column(table, i).empty()) std::abort();
}

// A line per row, whatever the values are, or a refusal that says why.
void check_manifest(const fleet::Table& table) {
  try {
    const auto text = fleet::format_manifest(table);
    if (std::count(text.begin(), text.end(), '\n') !=
        static_cast<std::ptrdiff_t>(table.rows.size()))
      std::abort();
  } catch (const base::Error& error) {
    if (error.message().empty()) std::abort();
  }
}

void fill_template(std::string_view text, const fleet::Table& table) {
  const auto parsed = base::parse_json(text);
  if (!parsed) return;
  try {
    const auto columns = fleet::columns_of(*parsed);
    if (table.rows.empty()) return;
    // Filled, it names no column any more, unless a value does.
    fleet::fill(*parsed, table.row(0));
    for (const auto& column : columns)
      if (table.row(0).if_contains(column) == nullptr) std::abort();
  } catch (const base::Error& error) {
    if (error.message().empty()) std::abort();
  }
}

}  // namespace

// The rows, a line "---", a template.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cut = text.find("---\n");
  const auto rows = text.substr(0, cut);
  for (const auto& table : {fleet::parse_manifest(rows), fleet::parse_csv(rows)}) {
    if (!table) {
      if (table.error().message.empty() || table.error().line == 0) std::abort();
      continue;
    }
    check_table(*table);
    check_manifest(*table);
    if (cut != std::string_view::npos) fill_template(text.substr(cut + 4), *table);
  }
  return 0;
}
