// SPDX-License-Identifier: Apache-2.0
#include "aws/arn.h"

#include <algorithm>

namespace meridian::aws {

std::string Arn::text() const {
  return "arn:" + partition + ":" + service + ":" + region + ":" + account + ":" + resource;
}

std::string Arn::resource_type() const {
  const auto end = resource.find_first_of("/:");
  return end == std::string::npos ? "" : resource.substr(0, end);
}

std::string Arn::resource_name() const {
  const auto end = resource.find_first_of("/:");
  return end == std::string::npos ? resource : resource.substr(end + 1);
}

std::optional<Arn> parse_arn(std::string_view text) {
  Arn out;
  std::string* const parts[] = {&out.partition, &out.service, &out.region, &out.account};
  if (!text.starts_with("arn:")) return std::nullopt;
  text.remove_prefix(4);
  for (std::string* part : parts) {
    const auto colon = text.find(':');
    if (colon == text.npos) return std::nullopt;
    *part = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  out.resource = text;
  const bool account_fits =
      out.account.empty() ||
      (out.account.size() == 12 && std::all_of(out.account.begin(), out.account.end(),
                                               [](char c) { return c >= '0' && c <= '9'; }));
  if (!out.partition.starts_with("aws") || out.service.empty() || out.resource.empty() ||
      !account_fits) {
    return std::nullopt;
  }
  return out;
}

}  // namespace meridian::aws
