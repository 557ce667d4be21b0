// SPDX-License-Identifier: Apache-2.0
#include "xgboost/data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/file.h"
#include "base/strings.h"

namespace meridian::xgboost {
namespace {

namespace fs = std::filesystem;

// Hands each line without its end to `visit(line, number)`, which returns an error text or "".
template <class Visit>
base::Result<std::size_t> for_each_line(std::string_view text, Visit visit) {
  std::size_t at = 0, count = 0;
  for (int number = 1; at < text.size(); ++number) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = base::trim(text.substr(at, end - at));
    if (!line.empty()) {
      if (std::string why = visit(line); !why.empty())
        return base::ParseError{std::move(why), at, number, 1};
      ++count;
    }
    at = end + 1;
  }
  return count;
}

bool parse_number(std::string_view text, float& value) {
  text = base::trim(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    value = std::strtof(std::string(text).c_str(), nullptr);  // denormal or infinite
    return true;
  }
  return error == std::errc() && end == text.data() + text.size();
}

std::string quoted(std::string_view text) {
  return "'" + std::string(base::utf8_prefix(text, 40)) + "'";
}

char find_separator(std::string_view line) {
  for (char candidate : {',', ';', '\t'})
    if (line.find(candidate) != std::string_view::npos) return candidate;
  return ',';
}

class CsvLine {
 public:
  CsvLine(std::string_view line, char separator) : rest_(line), separator_(separator) {}
  bool next(std::string_view& field) {
    if (done_) return false;
    const auto end = std::min(rest_.find(separator_), rest_.size());
    field = base::trim(rest_.substr(0, end));
    done_ = end == rest_.size();
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool done_ = false;
};

std::string add_csv_line(std::string_view line, char separator, CsvShape shape, Rows& rows) {
  CsvLine fields(line, separator);
  std::string_view field;
  float value = 0;
  if (shape.labels == Labels::first) {
    fields.next(field);
    if (!parse_number(field, value) || !std::isfinite(value))
      return "label " + quoted(field) +
             " is not a number (the label comes first, and there is no "
             "header line)";
    rows.labels.push_back(value);
  }
  if (shape.weights == Weights::second) {
    if (!fields.next(field) || !parse_number(field, value) || !(value >= 0))
      return "weight " + quoted(field) + " is not a number of 0 or more (csv_weights is 1)";
    rows.weights.push_back(value);
  }
  unsigned column = 0;
  for (; fields.next(field); ++column) {
    if (field.empty()) continue;
    if (!parse_number(field, value))
      return "field " + quoted(field) + " in column " + std::to_string(column + 1) +
             " of the features is not a number";
    if (std::isnan(value)) continue;
    rows.columns.push_back(column);
    rows.values.push_back(value);
  }
  if (rows.count() > 0 && column != rows.width)
    return std::to_string(column) + " features, but " + std::to_string(rows.width) +
           " in the lines before";
  rows.width = column;
  rows.starts.push_back(rows.values.size());
  return "";
}

std::string add_label(std::string_view word, Rows& rows) {
  const auto colon = word.find(':');
  float value = 0;
  if (!parse_number(word.substr(0, colon), value) || !std::isfinite(value))
    return "label " + quoted(word) + " is not a number";
  rows.labels.push_back(value);
  if (colon == std::string_view::npos) {
    if (!rows.weights.empty()) return "no weight, but the lines before have one";
    return "";
  }
  if (rows.weights.size() + 1 != rows.labels.size())
    return "a weight, but the lines before have none";
  if (!parse_number(word.substr(colon + 1), value) || !(value >= 0))
    return "weight in " + quoted(word) + " is not a number of 0 or more";
  rows.weights.push_back(value);
  return "";
}

std::string add_pair(std::string_view word, Rows& rows) {
  constexpr std::uint64_t most = 1u << 30;
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return quoted(word) + " is not index:value";
  const auto index = base::to_uint(word.substr(0, colon));
  float value = 0;
  if (!index || *index >= most || !parse_number(word.substr(colon + 1), value))
    return quoted(word) + " is not index:value";
  rows.columns.push_back(static_cast<unsigned>(*index));
  rows.values.push_back(value);
  rows.width = std::max<std::size_t>(rows.width, *index + 1);
  return "";
}

std::string add_libsvm_line(std::string_view line, Labels labels, Rows& rows) {
  line = base::trim(line.substr(0, line.find('#')));
  if (line.empty()) return "";
  bool first = true;
  while (!line.empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const auto word = line.substr(0, end);
    // A request may carry a label or not.
    const bool is_label =
        first && (labels == Labels::first || word.find(':') == std::string_view::npos);
    first = false;
    std::string why;
    if (!is_label)
      why = add_pair(word, rows);
    else if (labels == Labels::first)
      why = add_label(word, rows);
    if (!why.empty()) return why;
    line = base::trim(line.substr(end));
  }
  rows.starts.push_back(rows.values.size());
  return "";
}

}  // namespace

base::Result<std::size_t> append_csv(std::string_view text, CsvShape shape, Rows& rows) {
  const char separator = find_separator(text.substr(0, text.find('\n')));
  return for_each_line(
      text, [&](std::string_view line) { return add_csv_line(line, separator, shape, rows); });
}

base::Result<std::size_t> append_libsvm(std::string_view text, Labels labels, Rows& rows) {
  return for_each_line(text,
                       [&](std::string_view line) { return add_libsvm_line(line, labels, rows); });
}

DataFormat parse_content_type(std::string_view content_type) {
  const auto type = base::to_lower(base::trim(content_type.substr(0, content_type.find(';'))));
  if (type == "text/csv" || type == "csv") return DataFormat::csv;
  if (type.empty() || type == "text/libsvm" || type == "text/x-libsvm" || type == "libsvm")
    return DataFormat::libsvm;
  throw base::Error(base::Code::invalid_argument,
                    "content type '" + std::string(content_type) +
                        "' is not understood; there is text/csv and text/libsvm");
}

Rows read_directory(const fs::path& directory, DataFormat format, Weights weights) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Rows rows;
  for (const auto& file : files) {
    const auto text = base::read_file(file);
    const auto read = format == DataFormat::csv ? append_csv(text, {Labels::first, weights}, rows)
                                                : append_libsvm(text, Labels::first, rows);
    if (!read)
      throw base::Error(base::Code::invalid_argument,
                        file.filename().string() + ", " + read.error().text());
  }
  return rows;
}

}  // namespace meridian::xgboost
