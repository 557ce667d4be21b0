// SPDX-License-Identifier: Apache-2.0
#include "s3/manifest.h"

#include "base/json.h"
#include "base/strings.h"

namespace meridian::s3 {
namespace {

constexpr base::JsonLimits manifest_limits{.depth = 64, .bytes = 256u << 20};

base::ParseError at_line(int line, std::string message) {
  return {.message = std::move(message), .line = line, .column = 1};
}

// What the record gives for one attribute.
base::Result<ManifestValue> value_of(const base::Json& record, const std::string& attribute,
                                     int line) {
  const base::Json* value = base::find(record, attribute);
  if (!value) return at_line(line, "the record has no attribute '" + attribute + "'");
  if (!attribute.ends_with("-ref")) {
    // A string is data by itself, anything else is data as JSON text.
    if (value->is_string()) return ManifestValue(std::string(base::view(value->get_string())));
    return ManifestValue(base::to_text(*value));
  }
  if (!value->is_string())
    return at_line(line, "attribute '" + attribute + "' is not a string with an S3 URI");
  auto uri = parse_uri(base::view(value->get_string()));
  if (!uri) return at_line(line, "attribute '" + attribute + "': " + uri.error().message);
  return ManifestValue(*uri);
}

}  // namespace

base::Result<Manifest> parse_manifest(std::string_view text) {
  const auto json = base::parse_json(text, manifest_limits);
  if (!json) return json.error();
  const auto* array = json->if_array();
  if (!array || array->empty())
    return base::ParseError{"a manifest is a JSON array: [{\"prefix\": \"s3://…\"}, \"key\", …]"};
  const auto prefix = base::find_string((*array)[0], "prefix");
  if (!prefix)
    return base::ParseError{"the first element of a manifest is {\"prefix\": \"s3://bucket/…\"}"};
  auto uri = parse_uri(*prefix);
  if (!uri) return base::ParseError{"the manifest's prefix: " + uri.error().message};
  Manifest manifest{std::move(*uri), {}};
  for (std::size_t i = 1; i < array->size(); ++i) {
    const auto* key = (*array)[i].if_string();
    if (!key)
      return base::ParseError{"element " + std::to_string(i) +
                              " of the manifest is not a string with a relative key"};
    manifest.keys.emplace_back(base::view(*key));
  }
  return manifest;
}

base::Result<std::vector<ManifestRecord>> parse_augmented_manifest(
    std::string_view text, const std::vector<std::string>& attributes) {
  std::vector<ManifestRecord> records;
  int number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = base::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    const auto json = base::parse_json(line);
    if (!json) return at_line(number, json.error().message);
    if (!json->is_object()) return at_line(number, "a record is a JSON object");
    ManifestRecord record;
    for (const auto& attribute : attributes) {
      auto value = value_of(*json, attribute, number);
      if (!value) return value.error();
      record.push_back(std::move(*value));
    }
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace meridian::s3
