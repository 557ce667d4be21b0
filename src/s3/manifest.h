// The two manifest formats of training channels.
//
// ManifestFile: a JSON array, first {"prefix": "s3://bucket/some/"}, then relative keys, in order.
// AugmentedManifestFile: JSON Lines; each line an object whose attributes are data, or, when their
// name ends in -ref, S3 URIs of data.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "s3/objects.h"

namespace meridian::s3 {

struct Manifest {
  Uri prefix;                     // of every key
  std::vector<std::string> keys;  // relative, in order
};
base::Result<Manifest> parse_manifest(std::string_view text);

// One record: its attributes in the order asked for.
using ManifestValue = std::variant<Uri, std::string>;  // streamed from S3, or JSON text
using ManifestRecord = std::vector<ManifestValue>;
base::Result<std::vector<ManifestRecord>> parse_augmented_manifest(
    std::string_view text, const std::vector<std::string>& attributes);

}  // namespace meridian::s3
