// Two lines: a schema and an object. Defaults fill in once, what is pruned is no longer unknown,
// and every cause names its reason.
//
// LINK: base kube
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "kube/schema.h"

using namespace meridian;
using base::Json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), size);
  const auto document = base::parse_json(text.substr(0, line));
  if (!document) return 0;
  const auto schema = kube::parse_schema(*document);
  if (!schema) {
    if (schema.error().message.empty() || schema.error().reason.empty()) std::abort();
    return 0;
  }
  const auto object = base::parse_json(text.substr(std::min(line + 1, size)));
  if (!object) return 0;
  Json filled = *object;
  kube::apply_defaults(*schema, filled);
  Json twice = filled;
  kube::apply_defaults(*schema, twice);
  if (twice != filled) std::abort();
  kube::prune(*schema, filled);
  if (!kube::unknown_fields(*schema, filled).empty()) std::abort();
  const auto causes = kube::validate(*schema, filled, &*object);
  if (causes.size() > 101) std::abort();
  for (const auto& cause : causes) {
    if (cause.reason.empty() || cause.message.empty()) std::abort();
  }
  return 0;
}
