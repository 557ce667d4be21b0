// Files that programs find beside the documented ones of layout.h. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "region/training/records.h"
#include "region/training/request.h"

namespace meridian::region::training {

// Config files that are there on AWS and described nowhere, by name: the request as Describe shows
// it, how the channels come in, the outputs of jobs before this one (there are none). Their
// members beyond the request's own are ours.
std::map<std::string, std::string> undocumented_config(const JobRecord& record, const JobSpec& spec,
                                                       const HostSlot& slot);

// <channel>-manifest: the folder in S3, then the files in the channel's directory, relative to
// both.
std::string channel_manifest(const std::vector<s3::ChannelObject>& objects);

}  // namespace meridian::region::training
