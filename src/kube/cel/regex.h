// Regular expressions as Kubernetes' schemas and rules have them: RE2's syntax, searched for
// anywhere in the text, in bounded time.
//
// What RE2 refuses is refused here too (look-around, back-references, possessive quantifiers,
// counts beyond 1,000), so that a schema that passes here passes in a cluster.
//
// Immutable and thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace meridian::kube {

class Regex {
 public:
  // Nothing when the search would take too long, or the text is no UTF-8.
  std::optional<bool> finds(std::string_view text) const;
  // The first `most` matches, none overlapping; nothing as above.
  std::optional<std::vector<std::string>> find_all(std::string_view text, std::size_t most) const;

 private:
  struct Code;
  friend base::Result<Regex> parse_regex(std::string_view pattern);
  explicit Regex(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;
};

// Bounded: 4 KiB of pattern.
base::Result<Regex> parse_regex(std::string_view pattern);

}  // namespace meridian::kube
