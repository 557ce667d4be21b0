// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <algorithm>
#include <cctype>
#include <ostream>

#include "base/json.h"
#include "base/strings.h"
#include "cli/console.h"

namespace meridian::cli {
namespace {

const std::vector<std::string> kFormats{"table", "wide", "json", "yaml", "name"};

// Whether the plain text would read back as this very string: a word or path that no core-schema
// rule takes for a number, a truth value, null or syntax.
bool plain_in_yaml(std::string_view text) {
  if (text.empty() || text.size() > 1024) return false;
  for (std::string_view word : {"true", "false", "null", "yes", "no", "on", "off", "~"})
    if (base::equals_ignoring_case(text, word)) return false;
  if (!std::isalpha(static_cast<unsigned char>(text.front())) && text.front() != '/') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./").find(c) != std::string_view::npos;
  });
}

std::string yaml_scalar(const base::Json& value) {
  if (value.is_string() && plain_in_yaml(base::view(value.as_string())))
    return std::string(base::view(value.as_string()));
  return base::to_text(value);  // JSON scalars, {} and [] are YAML
}

bool is_block(const base::Json& value) {
  return (value.is_object() && !value.as_object().empty()) ||
         (value.is_array() && !value.as_array().empty());
}

void write_yaml(std::string& out, const base::Json& value, int indent);

// `key:` or `-` and what belongs to it.
void write_entry(std::string& out, std::string_view lead, const base::Json& value, int indent,
                 int child_indent) {
  out.append(static_cast<std::size_t>(indent), ' ');
  out += lead;
  if (is_block(value)) {
    out += '\n';
    write_yaml(out, value, child_indent);
  } else {
    out += ' ' + yaml_scalar(value) + '\n';
  }
}

void write_sequence(std::string& out, const base::JsonArray& items, int indent) {
  for (const auto& item : items) {
    if (!item.is_object() || item.as_object().empty()) {
      write_entry(out, "-", item, indent, indent + 2);
      continue;
    }
    std::string block;  // "- " takes the place of the first two blanks
    write_yaml(block, item, indent + 2);
    block[static_cast<std::size_t>(indent)] = '-';
    out += block;
  }
}

void write_yaml(std::string& out, const base::Json& value, int indent) {
  if (value.is_object() && is_block(value)) {
    for (const auto& [key, member] : value.as_object()) {
      const auto name = yaml_scalar(base::Json(key));
      write_entry(out, name + ":", member, indent, indent + 2);
    }
  } else if (value.is_array() && is_block(value)) {
    write_sequence(out, value.as_array(), indent);
  } else {
    out.append(static_cast<std::size_t>(indent), ' ');
    out += yaml_scalar(value) + '\n';
  }
}

}  // namespace

Format parse_format(std::string_view text) {
  for (std::size_t at = 0; at < kFormats.size(); ++at)
    if (kFormats[at] == text) return static_cast<Format>(at);
  throw base::Error(base::Code::invalid_argument, "unknown output format '" + std::string(text) +
                                                      "'; one of " + base::join(kFormats, ", "));
}

void Table::print(std::ostream& out) const {
  std::vector<int> widths;
  for (const auto& name : header_) widths.push_back(columns(name));
  for (const auto& row : rows_)
    for (std::size_t at = 0; at < row.size() && at < widths.size(); ++at)
      widths[at] = std::max(widths[at], columns(row[at]));
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      text += cells[at];
      if (at + 1 < cells.size())
        text.append(static_cast<std::size_t>(widths[at] - columns(cells[at]) + 2), ' ');
    }
    out << text << '\n';
  };
  line(header_);
  for (const auto& row : rows_) line(row);
}

std::string to_yaml(const base::Json& value) {
  std::string out;
  write_yaml(out, value, 0);
  return out;
}

void print_value(std::ostream& out, const base::Json& value, Format format) {
  if (format == Format::yaml)
    out << to_yaml(value);
  else
    out << base::to_text(value, base::JsonStyle::pretty) << '\n';
}

}  // namespace meridian::cli
