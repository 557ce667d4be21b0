// What parse_yaml accepts has a position for its root and survives being written as JSON, which is
// YAML too.
//
// LINK: base
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/yaml.h"

using namespace meridian::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto documents = parse_yaml({reinterpret_cast<const char*>(data), size});
  if (!documents) {
    if (documents.error().message.empty()) std::abort();
    return 0;
  }
  for (const YamlDocument& document : *documents) {
    if (document.position_of("").line < 1) std::abort();
    const std::string text = to_text(document.value);
    const auto as_json = parse_json(text);
    if (!as_json || *as_json != document.value) std::abort();
  }
  return 0;
}
