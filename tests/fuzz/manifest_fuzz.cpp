// Manifests of training channels: what is accepted names only good S3 URIs, what is refused says
// where.
//
// LINK: s3
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "s3/manifest.h"
#include "s3/tree.h"

using namespace meridian;

namespace {

void check_uri(const s3::Uri& uri) {
  const auto again = s3::parse_uri(uri.text());
  if (!again || again->bucket != uri.bucket || again->key != uri.key) std::abort();
}

// A staged path has no empty, "." or ".." component and no zero byte.
void check_path(const std::string& key) {
  const auto path = "/" + s3::safe_relative_path(key) + "/";
  for (const char* bad : {"//", "/./", "/../"}) {
    if (path.find(bad) != std::string::npos) std::abort();
  }
  if (path.find('\0') != std::string::npos) std::abort();
}

void check_error(const base::ParseError& error) {
  if (error.message.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto manifest = s3::parse_manifest(text)) {
    check_uri(manifest->prefix);
    for (const auto& key : manifest->keys) check_path(key);
  } else {
    check_error(manifest.error());
  }
  const auto records = s3::parse_augmented_manifest(text, {"image-ref", "label"});
  if (!records) {
    check_error(records.error());
    return 0;
  }
  for (const auto& record : *records) {
    if (record.size() != 2) std::abort();
    if (const auto* uri = std::get_if<s3::Uri>(&record[0]))
      check_uri(*uri);
    else
      std::abort();
  }
  return 0;
}
