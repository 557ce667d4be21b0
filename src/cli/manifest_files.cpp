// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "base/file.h"

namespace meridian::cli {

std::vector<SourceDocument> read_documents(const std::vector<std::string>& files) {
  std::vector<SourceDocument> all;
  const auto add = [&](const std::string& name, const std::string& text) {
    auto parsed = base::parse_yaml(text);
    if (!parsed) {
      throw base::Error(base::Code::invalid_argument,
                        fmt::format("{}: {}", name, parsed.error().text()));
    }
    for (auto& document : *parsed) {
      if (!document.value.is_null()) all.push_back({name, std::move(document)});
    }
  };
  for (const std::string& file : files) {
    if (file == "-") {
      add("standard input",
          {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()});
    } else if (std::filesystem::is_directory(file)) {
      for (const auto& entry : std::filesystem::directory_iterator(file)) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
          add(entry.path().string(), base::read_file(entry.path()));
        }
      }
    } else {
      add(file, base::read_file(file));
    }
  }
  return all;
}

}  // namespace meridian::cli
