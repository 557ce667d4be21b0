// SPDX-License-Identifier: Apache-2.0
#include "cli/s3_copy.h"

#include "base/strings.h"

namespace meridian::cli {

bool is_s3(std::string_view place) { return place.starts_with("s3://"); }

s3::Uri s3_uri(std::string_view text) {
  auto uri = s3::parse_uri(text);
  if (!uri) throw base::Error(base::Code::invalid_argument, uri.error().message);
  return *uri;
}

std::string target_key(std::string_view target, std::string_view file_name) {
  if (target.empty() || target.ends_with('/')) return std::string(target) + std::string(file_name);
  return std::string(target);
}

std::optional<std::string> relative_target(std::string_view key, std::string_view prefix) {
  const auto folder = prefix.rfind('/') == std::string_view::npos || prefix.ends_with('/')
                          ? prefix
                          : prefix.substr(0, prefix.rfind('/') + 1);
  std::string_view rest = key;
  if (prefix.find('/') != std::string_view::npos && key.starts_with(folder))
    rest = key.substr(folder.size());
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty() || rest.ends_with('/')) return {};
  for (const auto& part : base::split(rest, '/'))
    if (part == ".." || part == ".") return {};
  return std::string(rest);
}

}  // namespace meridian::cli
