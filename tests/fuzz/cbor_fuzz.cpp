// What parse_cbor accepts, it reads again from what the writer makes of it.
//
// LINK: aws
// SPDX-License-Identifier: Apache-2.0
#include "aws/cbor.h"

#include <cstdint>
#include <cstdlib>

#include "aws/protocol_parts.h"
#include "base/json.h"

using namespace meridian;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = aws::parse_cbor({reinterpret_cast<const char*>(data), size});
  if (!value) {
    if (value.error().offset > size || value.error().message.empty()) std::abort();
    return 0;
  }
  if (!value->is_object()) return 0;
  const auto again = aws::parse_cbor(aws::encode_cbor(nullptr, *value));
  if (!again || *again != *value) std::abort();
  return 0;
}
