// What the platform gives every program before the request's own environment, whatever kind of job
// it is of.
//
// Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "identity/identity.h"

namespace meridian::region::training {

using Environment = std::map<std::string, std::string>;

// Where Settings::tools_directory lies inside; first on PATH.
inline constexpr char kTools[] = "/opt/meridian/tools";

struct Surroundings {
  std::filesystem::path python;           // the program's interpreter; its directory is on PATH
  std::filesystem::path tools_directory;  // of the host; empty = no tools inside
  std::string region;
};
// PATH, HOME, LANG, the region.
Environment environment_of(const Surroundings& surroundings);
// The job's temporary keys, and the way to the services; "" = by AWS's own names.
void add_access(const identity::AccessKey& keys, const std::string& endpoint_url,
                Environment& environment);

}  // namespace meridian::region::training
