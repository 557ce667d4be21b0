// SPDX-License-Identifier: Apache-2.0
#include "operators/regions_file.h"

#include <fmt/format.h>

#include "aws/credential_chain.h"
#include "base/file.h"
#include "base/yaml.h"

namespace meridian::operators {
namespace {

using base::Json;

[[noreturn]] void refuse(const std::filesystem::path& file, const base::YamlDocument& document,
                         const std::string& path, std::string_view what) {
  throw base::Error(
      base::Code::invalid_argument,
      fmt::format("{}:{}: {}: {}", file.string(), document.position_of(path).line, path, what));
}

RegionSettings parse_region(const std::filesystem::path& file, const base::YamlDocument& document,
                            const std::string& path, const Json& entry) {
  if (!entry.is_object()) refuse(file, document, path, "expected endpoint and credentials");
  RegionSettings settings;
  for (const auto& [key, value] : entry.get_object()) {
    const std::string field = path + "." + std::string(key);
    if (!value.is_string()) refuse(file, document, field, "expected text");
    const std::string text(base::view(value.get_string()));
    if (key == "endpoint") {
      settings.endpoint = text;
    } else if (key == "credentials") {
      const auto keys = aws::parse_credentials(base::read_file(text));
      if (!keys) refuse(file, document, field, text + ": " + keys.error().text());
      settings.credentials = *keys;
    } else {
      refuse(file, document, field, "unknown; there are endpoint and credentials");
    }
  }
  if (settings.endpoint.empty()) refuse(file, document, path, "has no endpoint");
  return settings;
}

}  // namespace

std::map<std::string, RegionSettings> load_regions_file(const std::filesystem::path& file) {
  std::map<std::string, RegionSettings> regions;
  // The deployment mounts the file from a Secret that need not exist.
  if (file.empty() || !std::filesystem::exists(file)) return regions;
  const auto parsed = base::parse_yaml(base::read_file(file));
  if (!parsed)
    throw base::Error(base::Code::invalid_argument, file.string() + ": " + parsed.error().text());
  for (const base::YamlDocument& document : *parsed) {
    const Json* entries = base::find(document.value, "regions");
    if (entries == nullptr || !entries->is_object())
      refuse(file, document, "regions", "expected regions by name");
    for (const auto& [name, entry] : entries->get_object()) {
      regions[name] = parse_region(file, document, "regions." + std::string(name), entry);
    }
  }
  return regions;
}

}  // namespace meridian::operators
