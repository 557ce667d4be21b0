// SPDX-License-Identifier: Apache-2.0
#include "region/training/platform_files.h"

#include "base/strings.h"
#include "region/training/layout.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject init_config(const JobSpec& spec, const HostSlot& slot) {
  const auto hosts = spec.hosts();
  JsonObject channels;
  for (const auto& [channel, entry] : input_data_config(spec, slot)) channels[channel] = entry;
  int number = 1;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (hosts[i].host == slot.host) number = static_cast<int>(i) + 1;
  JsonObject config{{"inputMode", base::to_upper(name(spec.mode))},
                    {"channels", std::move(channels)},
                    {"hostConfig", {{"clusterSize", hosts.size()}, {"hostNumber", number}}}};
  if (spec.checkpoints) {
    config["checkpointChannel"] =
        JsonObject{{"LocalPath", spec.checkpoints->local_path}, {"S3Uri", spec.checkpoints->uri}};
  } else {
    config["checkpointChannel"] = nullptr;
  }
  return config;
}

}  // namespace

std::map<std::string, std::string> undocumented_config(const JobRecord& record, const JobSpec& spec,
                                                       const HostSlot& slot) {
  JsonObject job = record.request;
  job["TrainingJobArn"] = record.arn;
  return {{"init-config.json", base::to_text(init_config(spec, slot))},
          {"trainingjobconfig.json", base::to_text(job)},
          {"upstreamoutputdataconfig.json", "[]"}};
}

std::string channel_manifest(const std::vector<s3::ChannelObject>& objects) {
  JsonArray entries;
  for (const auto& [bucket, info, path] : objects) {
    if (info.key.ends_with('/')) continue;  // a folder's marker makes no file
    if (entries.empty()) {
      const std::size_t folder = info.key.ends_with(path) ? info.key.size() - path.size() : 0;
      entries.push_back(JsonObject{{"prefix", s3::Uri{bucket, info.key.substr(0, folder)}.text()}});
    }
    entries.push_back(Json(path));
  }
  return base::to_text(entries);
}

}  // namespace meridian::region::training
