// SPDX-License-Identifier: Apache-2.0
#include "cli/manifest_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "kube/object.h"

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

base::Json read_array(const std::string& file) {
  std::optional<base::Json> array;
  for (const SourceDocument& source : read_documents({file})) {
    if (kube::kind_of(source.document.value) != "TrainingArray") continue;
    if (array)
      throw base::Error(base::Code::invalid_argument,
                        file + ": more than one TrainingArray; apply them by `meridian apply`");
    array = source.document.value;
  }
  if (!array)
    throw base::Error(base::Code::invalid_argument,
                      file + ": no TrainingArray (apiVersion meridian.dev/v1alpha1)");
  if (base::find(*array, "spec") == nullptr)
    throw base::Error(base::Code::invalid_argument, file + ": no spec");
  return *array;
}

}  // namespace meridian::cli
