// Where a region is, and with which keys it is asked.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "aws/sigv4.h"
#include "cli/commands.h"

namespace meridian::cli {

struct RegionAccess {
  std::string endpoint;          // of every service; empty = AWS's own
  std::string ca_file;           // PEM; empty = whom the machine trusts
  aws::Credentials credentials;  // empty = what AWS's clients would find
};

// spec.sageMakerEndpoint when set; else this installation's when it serves the region; else that of
// DATA/regions.yaml; else AWS's.
RegionAccess find_region(Context& context, const std::string& region, const std::string& endpoint);

}  // namespace meridian::cli
