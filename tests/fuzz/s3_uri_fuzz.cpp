// S3 URIs, request targets and ranges.
//
// LINK: s3/server
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/strings.h"
#include "s3/server/call.h"
#include "s3/store/records.h"

using namespace meridian;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto uri = s3::parse_uri(text)) {
    const auto again = s3::parse_uri(uri->text());
    if (!again || again->bucket != uri->bucket || again->key != uri->key) std::abort();
  } else if (uri.error().message.empty()) {
    std::abort();
  }

  // The first line is the host, the second the raw path.
  const auto line = std::min(text.find('\n'), text.size());
  const auto rest = line < text.size() ? text.substr(line + 1) : std::string_view{};
  if (const auto target = s3::parse_target(text.substr(0, line), rest)) {
    if (!base::is_valid_utf8(target->key)) std::abort();
    // Sent again in path style it is the same object.
    const auto path =
        "/" + base::percent_encode(target->bucket) + "/" + base::percent_encode(target->key, "/");
    const auto again = s3::parse_target("127.0.0.1", path);
    if (!again || again->bucket != target->bucket || again->key != target->key) std::abort();
    if (s3::unescape_key(s3::escape_key(target->key)) != target->key) std::abort();
  }

  for (const std::uint64_t object : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}}) {
    const auto answer = s3::parse_range(text, object);
    if (answer.kind == s3::RangeAnswer::Kind::unsatisfiable) continue;
    const auto& range = answer.range;
    if (range.offset > object || range.count > object - range.offset) std::abort();
    if (answer.kind == s3::RangeAnswer::Kind::part && range.count == 0) std::abort();
  }
  return 0;
}
