// Channels in FastFile mode (contract §3.7): listed before the start, read when the program reads.
//
//   <job>/channels/CHANNEL/{all,algo-N}.index   what the channel shows (run/file_tree.h)
//
// A channel with an index is mounted on demand, one without is staged as in File mode.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "region/training/core.h"
#include "s3/staging.h"

namespace meridian::region::training {

std::filesystem::path index_file(const std::filesystem::path& job, const Channel& channel,
                                 const std::string& host);

// The channel's source, its URI with a '/' at the end unless it names one object. It has to name
// either: a text that keys only begin with is Error(invalid_argument).
s3::ChannelSource require_folder(s3::Objects& objects, s3::ChannelSource source);
// Of what begins with the URI of one object, that object.
void keep_named_object(std::vector<s3::ChannelObject>& channel, const s3::ChannelSource& source);

// Writes the index; or says why it cannot be, and then there is none.
std::optional<std::string> show_on_demand(Core& core, const Program& program,
                                          const std::vector<s3::ChannelObject>& channel,
                                          const std::filesystem::path& index);

}  // namespace meridian::region::training
