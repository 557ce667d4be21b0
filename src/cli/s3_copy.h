// What `meridian s3 cp` copies, decided before anything is moved.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "s3/objects.h"

namespace meridian::cli {

bool is_s3(std::string_view place);
// s3://bucket/key; Error(invalid_argument) says what is wrong with it.
s3::Uri s3_uri(std::string_view text);

// The key for a file copied to `target`: a target that is empty or ends in '/' is a folder.
std::string target_key(std::string_view target, std::string_view file_name);

// Where below `directory` the object `key` of the listing `prefix` lands: the key without the
// prefix's folder. Nothing for a key that would leave the directory, or that names a folder.
std::optional<std::string> relative_target(std::string_view key, std::string_view prefix);

}  // namespace meridian::cli
