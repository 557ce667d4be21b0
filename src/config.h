// DATA/config.yaml: what an installation may say about itself. Everything has a default; the file
// may be absent.
//
//   regions: [us-west-2, eu-central-1]
//   pools:
//     - name: default
//       count: 8                  # instances; their types may be mixed
//       types: [ml.m5.large]      # absent: any known ml.* type
//       cpus: 2                   # per instance; absent: a real share of the machine
//       memory: 8GiB
//       gpus: 1
//       price_per_hour: 0.115     # USD; absent: the dated list price of the type, if there is one
//       spot:                     # when managed spot instances are taken back; absent: when asked
//         reclaims_per_hour: 0.5  # of each gang that runs, at random
//         reclaim_after: [10m]    # the first attempt runs so long, later ones to their end
//         at_most: 3              # reclaims of one job by these two
//         trace: spot.json        # or: how many there are over time (beside this file)
//   images:                       # first match wins; before local images and known families
//     - match: "*/pytorch-training:*"
//       run: host:/opt/venv/bin/python
//   file_systems:
//     fs-0123456789abcdef0: /srv/datasets
//   s3: {sync: true}              # objects survive power loss, not only kill -9
//   catalog: {campaigns: sqlite:///srv/campaigns.db}   # asked by arrays' SQL, read-only
//   sandbox: {user: nobody, network: gang}
//
// An unknown or ill-typed field is an Error with file, line, column, what is allowed and a
// suggestion.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "region/capacity/capacity.h"
#include "region/training/spot_policy.h"

namespace meridian {

struct ImageMapping {
  std::string match;  // shell pattern over the image name
  std::string run;    // "host", "host:PYTHON" or an OCI reference
};

struct Config {
  std::string account = "000000000000";
  std::vector<std::string> regions{"us-west-2"};
  std::vector<region::capacity::Pool> pools{region::capacity::Pool{}};  // the default pool
  std::map<std::string, region::training::SpotPolicy> spot;             // by name of the pool
  std::vector<ImageMapping> images;
  std::map<std::string, std::filesystem::path> file_systems;
  std::filesystem::path campaigns;  // the user's database; empty = none
  bool s3_sync = true;
  std::string sandbox_user = "nobody";  // programs run as this user when the daemon is root
  bool host_network = false;            // sandbox.network: host
};

// The defaults when the file does not exist.
Config load_config(const std::filesystem::path& file);
// Reads the files that it names relative to `directory`.
Config parse_config(std::string_view yaml, std::string_view name,
                    const std::filesystem::path& directory = {});
// "90s", "10m", "2h", "1d". Nothing for anything else.
std::optional<base::Duration> parse_duration(std::string_view text);
// "8GiB", "512MiB", "1000000". Nothing for anything else.
std::optional<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace meridian
