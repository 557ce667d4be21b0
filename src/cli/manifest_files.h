// YAML and JSON files of resources, as `-f` names them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"

namespace meridian::cli {

struct SourceDocument {
  std::string file;
  base::YamlDocument document;
};

// Files, directories (their .yaml, .yml and .json) and "-" for standard input. Empty documents are
// left out; Error(invalid_argument) names file and line.
std::vector<SourceDocument> read_documents(const std::vector<std::string>& files);

// The one TrainingArray of the file, with a spec. Error(invalid_argument): none, or several.
base::Json read_array(const std::string& file);

}  // namespace meridian::cli
