// What the parts of a region are told, from the daemon's options and configuration.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "config.h"
#include "daemon.h"
#include "region/batch/batch.h"
#include "region/training/training.h"

namespace meridian {

// `port`, `socket`: where programs of the region reach the AWS face.
region::training::Settings training_settings(const DaemonSettings& daemon, const Config& config,
                                             const std::string& region, std::uint16_t port,
                                             const std::filesystem::path& socket);
// As its trainings have them.
region::batch::Settings batch_settings(const region::training::Settings& training,
                                       const std::string& step_kind);

}  // namespace meridian
