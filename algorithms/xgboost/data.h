// Tables of numbers as XGBoost wants them, from CSV and libsvm text.
//
// CSV: label first, no header; a second column of weights on request; empty fields are missing.
// libsvm: `label[:weight] index:value …`, indexes kept as they are.
//
// Parsers give ParseError with the line; nothing is read past the text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::xgboost {

// Compressed rows: those of CSV have every column, missing values left out.
struct Rows {
  std::vector<float> labels, weights;  // weights: empty or one per row
  std::vector<std::size_t> starts{0};  // of each row in `columns`, and the end
  std::vector<unsigned> columns;
  std::vector<float> values;
  std::size_t width = 0;  // number of columns
  std::size_t count() const { return starts.size() - 1; }
};

enum class Labels { none, first };  // none: features only, as in requests for predictions
enum class Weights { none, second };
enum class DataFormat { csv, libsvm };

struct CsvShape {
  Labels labels = Labels::first;
  Weights weights = Weights::none;
};

// Appends the rows of the text.
base::Result<std::size_t> append_csv(std::string_view text, CsvShape shape, Rows& rows);
base::Result<std::size_t> append_libsvm(std::string_view text, Labels labels, Rows& rows);

// text/csv, text/libsvm, text/x-libsvm, with parameters; Error(invalid_argument) for others.
DataFormat parse_content_type(std::string_view content_type);

// Every regular file below the directory, in order of names. Error names file and line.
Rows read_directory(const std::filesystem::path& directory, DataFormat format, Weights weights);

}  // namespace meridian::xgboost
