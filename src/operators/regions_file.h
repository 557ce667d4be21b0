// Regions beside those of this installation, from a file that `meridian region add` writes:
//
//   regions:
//     us-west-2:
//       endpoint: https://meridian.example:8470       # default: AWS's own
//       credentials: /etc/meridian/regions/us-west-2  # AWS ini format; default: the environment's
//       ca: /etc/meridian/regions/ca.pem              # who vouches for the endpoint
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "aws/sigv4.h"
#include "base/clock.h"

namespace meridian::operators {

struct RegionSettings {
  std::string endpoint;     // http://127.0.0.1:8470; empty = AWS's own, per service
  std::string unix_socket;  // connect here instead; empty = by the endpoint
  std::string ca_file;      // PEM; empty = whom the machine trusts
  // Asked for each request; empty = what AWS's clients would find.
  std::function<aws::Credentials()> credentials{};

  // The least time between two listings of one kind: AWS throttles what asks more often.
  base::Duration listing_interval() const;
};
using Regions = std::map<std::string, RegionSettings>;

// No file: no regions. Error(invalid_argument) with file and line.
Regions load_regions_file(const std::filesystem::path& file);

// The file as it is from one moment to the next. Not thread-safe.
class RegionsFile {
 public:
  explicit RegionsFile(std::filesystem::path file) : file_(std::move(file)) {}
  // What it holds when that changed since the last call. One that cannot be read counts as
  // unchanged; that is logged.
  std::optional<Regions> changed();

 private:
  std::filesystem::path file_;
  std::string stamp_;
};

}  // namespace meridian::operators
