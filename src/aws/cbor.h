// CBOR (RFC 8949) as Smithy's RPC v2 uses it: a bounded reader into JSON and a small writer.
//
// Reading: tag 1 gives its number; byte strings become base64 text; half, single and double floats
// become doubles; definite and indefinite lengths are accepted; undefined reads as null. Refused:
// other tags, keys that are not text, big numbers, anything after the value, depth past 32, and
// lengths past the end of the input before anything is allocated.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"

namespace meridian::aws {

base::Result<base::Json> parse_cbor(std::string_view bytes);

class CborWriter {
 public:
  CborWriter& map(std::size_t entries) { return head(5, entries); }  // then key, value, key, …
  CborWriter& array(std::size_t items) { return head(4, items); }
  CborWriter& text(std::string_view utf8);
  CborWriter& bytes(std::string_view raw);
  CborWriter& integer(std::int64_t value);
  CborWriter& unsigned_integer(std::uint64_t value) { return head(0, value); }
  CborWriter& number(double value);
  CborWriter& boolean(bool value);
  CborWriter& null();
  CborWriter& epoch_seconds(double value);  // tag 1
  std::string finish() { return std::move(out_); }

 private:
  CborWriter& head(int major, std::uint64_t argument);
  void big_endian(std::uint64_t value, int count);
  std::string out_;
};

}  // namespace meridian::aws
