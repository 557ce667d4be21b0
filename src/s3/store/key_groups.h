// Which keys a listing rolls up into one common prefix.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "s3/store/records.h"

namespace meridian::s3 {

class KeyGroups {
 public:
  KeyGroups(std::string prefix, std::string delimiter)
      : prefix_(std::move(prefix)), delimiter_(std::move(delimiter)) {}

  // The common prefix that hides `key`: up to and with the first delimiter behind the prefix.
  std::optional<std::string> group_of(std::string_view key) const {
    if (delimiter_.empty() || !key.starts_with(prefix_)) return std::nullopt;
    const auto at = key.find(delimiter_, prefix_.size());
    if (at == std::string_view::npos) return std::nullopt;
    return std::string(key.substr(0, at + delimiter_.size()));
  }
  bool is_group(std::string_view key) const { return group_of(key) == key; }

  // Where a listing continues after `key`, as an escaped key: a common prefix that was listed is
  // not listed again.
  std::string resume_after(std::string_view key) const {
    return is_group(key) ? after_prefix(escape_key(key)) : escape_key(key);
  }

 private:
  std::string prefix_, delimiter_;
};

}  // namespace meridian::s3
