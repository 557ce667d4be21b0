// Regions that an operator knows beside AWS, from a file:
//
//   regions:
//     us-west-2:
//       endpoint: http://meridian.example:8470
//       credentials: /etc/meridian/regions/us-west-2     # AWS ini format; default: the
//       environment's
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "operators/region_remotes.h"

namespace meridian::operators {

// No file: no regions. Error(invalid_argument) with file and line.
std::map<std::string, RegionSettings> load_regions_file(const std::filesystem::path& file);

}  // namespace meridian::operators
