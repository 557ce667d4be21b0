// Where things of an instance lie on the host and inside (contract §3.2).
//
//   <instance>/ml/           → /opt/ml, read and write
//   <instance>/synced/NAME/  → a LocalPath outside /opt/ml
//   <job>/channels/CHANNEL/{all,algo-N}/  → /opt/ml/input/data/CHANNEL, as an overlay's lower layer
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "region/training/core.h"

namespace meridian::region::training {

std::filesystem::path ml_directory(const std::filesystem::path& instance);
// The directory behind a synced LocalPath, below the instance's, and whether it needs a mount of
// its own.
struct LocalDirectory {
  std::filesystem::path below;
  bool needs_mount = false;
};
LocalDirectory synced_directory(const SyncedDirectory& synced);
// Error(invalid_argument) when the configuration has lost the file system since Create.
std::filesystem::path file_system_directory(const Settings& settings,
                                            const FileSystemSource& source);
// Shared by all hosts unless the channel is sharded.
std::filesystem::path channel_directory(const std::filesystem::path& job, const Channel& channel,
                                        const std::string& host);
// Makes what an instance finds below /opt/ml, and its config files (contract §3.2).
void make_instance_tree(const std::filesystem::path& instance, const JobSpec& spec,
                        const HostSlot& slot);

// The config files by name, as text. Pure.
std::map<std::string, std::string> config_files(const JobSpec& spec, const HostSlot& slot,
                                                const base::JsonObject& request);
// channel → its entry of inputdataconfig.json.
std::map<std::string, base::Json> input_data_config(const JobSpec& spec, const HostSlot& slot);
void write_config_files(const std::filesystem::path& instance,
                        const std::map<std::string, std::string>& files);

}  // namespace meridian::region::training
