// What parse_json accepts, it prints as text that it reads back as the same value.
//
// LINK: base
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"

using namespace meridian::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) {
    if (value.error().offset > size || value.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto style : {JsonStyle::compact, JsonStyle::pretty, JsonStyle::sorted}) {
    const std::string text = to_text(*value, style);
    const auto again = parse_json(text);
    if (!again || *again != *value) std::abort();
  }
  return 0;
}
