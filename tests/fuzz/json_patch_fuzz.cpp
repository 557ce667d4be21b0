// Two lines of JSON: a target, and a patch of either kind. What comes out is JSON within the
// promised bounds; a merge patch applied twice is applied once; a made patch makes what it says.
//
// LINK: base kube
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "kube/patch.h"
#include "kube/value.h"

using namespace meridian;
using base::Json;

namespace {

bool has_null_member(const Json& value) {
  if (value.is_array()) return false;  // a patch takes arrays as they are
  if (!value.is_object()) return false;
  return std::any_of(value.get_object().begin(), value.get_object().end(), [](const auto& member) {
    return member.value().is_null() || has_null_member(member.value());
  });
}

void check_json_patch(const Json& target, const Json& patch) {
  const auto result = kube::apply_json_patch(target, patch);
  if (!result) {
    if (result.error().empty()) std::abort();
    return;
  }
  const auto again = base::parse_json(base::to_text(*result));
  if (!again || !kube::same_value(*again, *result)) std::abort();
}

void check_merge_patch(const Json& target, const Json& patch) {
  const Json once = kube::apply_merge_patch(target, patch);
  if (!kube::same_value(kube::apply_merge_patch(once, patch), once)) std::abort();
  if (has_null_member(patch)) return;
  const Json made = kube::make_merge_patch(target, patch);
  if (!kube::same_value(kube::apply_merge_patch(target, made), patch)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  const auto target = base::parse_json(text.substr(0, line));
  const auto patch = base::parse_json(text.substr(std::min(line + 1, size)));
  if (!target || !patch) return 0;
  check_json_patch(*target, *patch);
  check_merge_patch(*target, *patch);
  return 0;
}
