// SPDX-License-Identifier: Apache-2.0
#include "region/training/layout.h"

#include "base/file.h"
#include "region/training/beneath.h"
#include "region/training/pipe.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
namespace fs = std::filesystem;

constexpr std::string_view kMl = "/opt/ml/";

JsonArray names_of(const std::vector<HostSlot>& hosts, const std::string& group) {
  JsonArray names;
  for (const HostSlot& each : hosts)
    if (group.empty() || each.group == group) names.push_back(Json(each.host));
  return names;
}

JsonObject resource_config(const JobSpec& spec, const HostSlot& slot) {
  auto hosts = spec.hosts();
  JsonArray groups;
  for (const Group& group : spec.groups)
    groups.push_back(JsonObject{{"instance_group_name", group.name},
                                {"instance_type", group.type},
                                {"hosts", names_of(hosts, group.name)}});
  return {{"current_host", slot.host},
          {"current_instance_type", slot.type},
          {"current_group_name", slot.group},
          {"hosts", names_of(hosts, "")},
          {"instance_groups", groups},
          {"network_interface_name", "eth0"},
          {"topology", nullptr}};
}

void make_first_fifo(const fs::path& instance, const Channel& channel) {
  if (auto directory = pin_directory(instance, "ml/input/data"))
    make_fifo(directory->fd(), fifo_name(channel.name, 0));
}

}  // namespace

fs::path ml_directory(const fs::path& instance) { return instance / "ml"; }

LocalDirectory synced_directory(const SyncedDirectory& synced) {
  if (synced.local_path.starts_with(kMl))
    return {fs::path("ml") / synced.local_path.substr(kMl.size()), false};
  return {fs::path("synced") / synced.name, true};
}

fs::path file_system_directory(const Settings& settings, const FileSystemSource& source) {
  auto root = settings.file_systems.find(source.id);
  if (root == settings.file_systems.end())
    throw base::Error(base::Code::invalid_argument,
                      "FileSystemId '" + source.id + "' has no directory in the configuration");
  // Normal first: no ".." leads out of the file system.
  return root->second / (fs::path("/") / source.directory).lexically_normal().relative_path();
}

fs::path channel_directory(const fs::path& job, const Channel& channel, const std::string& host) {
  bool sharded = channel.s3 && channel.s3->distribution == s3::Distribution::sharded;
  return job / "channels" / channel.name / (sharded ? host : "all");
}

void make_instance_tree(const fs::path& instance, const JobSpec& spec, const HostSlot& slot) {
  const fs::path ml = ml_directory(instance);
  // The directories of TensorBoard and the debugger only when something is to sync.
  for (const char* each :
       {"input/config", "input/data", "model", "output/data", "output/intermediate",
        "output/metrics/sagemaker", "output/profiler", "errors", "checkpoints", "code"})
    base::make_directories(ml / each);
  for (const Channel& channel : spec.channels) {
    if (!channel.is_for(slot.group)) continue;
    if (channel.mode == InputMode::pipe)
      make_first_fifo(instance, channel);
    else
      base::make_directories(ml / "input/data" / channel.name);
  }
  std::vector<SyncedDirectory> synced = spec.outputs;
  if (spec.checkpoints) synced.push_back(*spec.checkpoints);
  for (const SyncedDirectory& each : synced)
    base::make_directories(instance / synced_directory(each).below);
}

std::map<std::string, Json> input_data_config(const JobSpec& spec, const HostSlot& slot) {
  std::map<std::string, Json> config;
  for (const Channel& channel : spec.channels) {
    if (!channel.is_for(slot.group)) continue;
    bool sharded = channel.s3 && channel.s3->distribution == s3::Distribution::sharded;
    JsonObject entry{{"TrainingInputMode", name(channel.mode)},
                     {"S3DistributionType", sharded ? "ShardedByS3Key" : "FullyReplicated"},
                     {"RecordWrapperType", channel.record_io ? "RecordIO" : "None"}};
    if (!channel.content_type.empty()) entry["ContentType"] = channel.content_type;
    config[channel.name] = entry;
  }
  return config;
}

std::map<std::string, std::string> config_files(const JobSpec& spec, const HostSlot& slot,
                                                const JsonObject& request) {
  JsonObject hyperparameters, inputs;
  for (const auto& [key, value] : spec.hyperparameters) hyperparameters[key] = value;
  for (const auto& [channel, entry] : input_data_config(spec, slot)) inputs[channel] = entry;
  JsonArray metrics;
  for (const auto& metric : spec.metrics)
    metrics.push_back(JsonObject{{"Name", metric.name}, {"Regex", metric.regex}});
  std::map<std::string, std::string> files{
      {"hyperparameters.json", base::to_text(hyperparameters)},
      {"resourceconfig.json", base::to_text(resource_config(spec, slot))},
      {"inputdataconfig.json", base::to_text(inputs)},
      {"metric-definition-regex.json", base::to_text(metrics)}};
  if (spec.checkpoints)
    files["checkpointconfig.json"] = base::to_text(
        JsonObject{{"LocalPath", spec.checkpoints->local_path}, {"S3Uri", spec.checkpoints->uri}});
  if (const Json* hook = base::find(request, "DebugHookConfig"))
    files["debughookconfig.json"] = base::to_text(*hook);
  if (const Json* profiler = base::find(request, "ProfilerConfig"))
    files["profilerconfig.json"] = base::to_text(*profiler);
  return files;
}

void write_config_files(const fs::path& instance, const std::map<std::string, std::string>& files) {
  for (const auto& [file, text] : files)
    base::write_file(ml_directory(instance) / "input/config" / file, text);
}

}  // namespace meridian::region::training
