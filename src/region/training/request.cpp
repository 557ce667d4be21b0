// SPDX-License-Identifier: Apache-2.0
#include "region/training/request.h"

#include "base/strings.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonObject;

Json member(const Json& object, std::string_view key) {
  const Json* value = base::find(object, key);
  return value ? *value : Json(JsonObject{});
}

std::vector<Json> items(const Json& object, std::string_view key) {
  const Json* value = base::find(object, key);
  if (!value || !value->is_array()) return {};
  return {value->get_array().begin(), value->get_array().end()};
}

std::vector<std::string> texts(const Json& object, std::string_view key) {
  std::vector<std::string> values;
  for (const Json& each : items(object, key))
    if (each.is_string()) values.emplace_back(base::view(each.get_string()));
  return values;
}

std::map<std::string, std::string> text_map(const Json& object, std::string_view key) {
  std::map<std::string, std::string> values;
  Json map = member(object, key);
  if (map.is_object())
    for (const auto& [name, value] : map.get_object())
      if (value.is_string()) values[std::string(name)] = base::view(value.get_string());
  return values;
}

std::string without_trailing_slashes(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

InputMode parse_mode(const std::string& text, InputMode fallback) {
  if (text == "File") return InputMode::file;
  if (text == "FastFile") return InputMode::fast_file;
  if (text == "Pipe") return InputMode::pipe;
  return fallback;
}

s3::ChannelSource read_s3_source(const Json& source, const Json& channel) {
  s3::ChannelSource s3;
  s3.uri = base::string_or(source, "S3Uri");
  std::string type = base::string_or(source, "S3DataType", "S3Prefix");
  if (type == "ManifestFile") s3.type = s3::DataType::manifest;
  if (type == "AugmentedManifestFile") s3.type = s3::DataType::augmented_manifest;
  if (base::string_or(source, "S3DataDistributionType") == "ShardedByS3Key")
    s3.distribution = s3::Distribution::sharded;
  s3.attributes = texts(source, "AttributeNames");
  if (const Json* seed = base::find_path(channel, "ShuffleConfig.Seed"))
    s3.shuffle_seed = seed->to_number<std::int64_t>();
  return s3;
}

Channel read_channel(const Json& json, InputMode mode) {
  Channel channel;
  channel.name = base::string_or(json, "ChannelName");
  channel.content_type = base::string_or(json, "ContentType");
  channel.mode = parse_mode(base::string_or(json, "InputMode"), mode);
  channel.gzip = base::string_or(json, "CompressionType") == "Gzip";
  channel.record_io = base::string_or(json, "RecordWrapperType") == "RecordIO";
  if (const Json* source = base::find_path(json, "DataSource.S3DataSource")) {
    channel.s3 = read_s3_source(*source, json);
    for (const auto& group : texts(*source, "InstanceGroupNames"))
      channel.instance_groups.insert(group);
  }
  if (const Json* source = base::find_path(json, "DataSource.FileSystemDataSource"))
    channel.file_system = {base::string_or(*source, "FileSystemId"),
                           base::string_or(*source, "FileSystemType"),
                           base::string_or(*source, "DirectoryPath"),
                           base::string_or(*source, "FileSystemAccessMode") == "rw"};
  return channel;
}

std::vector<Group> read_groups(const Json& resources) {
  std::vector<Group> groups;
  for (const Json& each : items(resources, "InstanceGroups"))
    groups.push_back({base::string_or(each, "InstanceGroupName"),
                      base::string_or(each, "InstanceType"),
                      static_cast<int>(base::int_or(each, "InstanceCount", 1))});
  if (groups.empty())
    groups.push_back({"homogeneousCluster", base::string_or(resources, "InstanceType"),
                      static_cast<int>(base::int_or(resources, "InstanceCount", 1))});
  return groups;
}

void read_synced_directories(const Json& request, JobSpec& spec) {
  Json checkpoints = member(request, "CheckpointConfig");
  if (auto uri = base::find_string(checkpoints, "S3Uri"))
    spec.checkpoints = {"checkpoints", without_trailing_slashes(*uri),
                        base::string_or(checkpoints, "LocalPath", "/opt/ml/checkpoints")};
  auto add = [&](std::string_view config, std::string_view fallback, const std::string& kind) {
    Json given = member(request, config);
    auto uri = base::find_string(given, "S3OutputPath");
    if (!uri || base::bool_or(given, "DisableProfiler", false)) return;
    spec.outputs.push_back(
        {kind, without_trailing_slashes(*uri) + "/" + spec.name + "/" + kind + "-output",
         base::string_or(given, "LocalPath", fallback)});
  };
  add("TensorBoardOutputConfig", "/opt/ml/output/tensorboard", "tensorboard");
  add("DebugHookConfig", "/opt/ml/output/tensors", "debug");
  add("ProfilerConfig", "/opt/ml/output/profiler", "profiler");
  if (auto uri = spec.find_setting("sagemaker_s3_output"); uri && uri->starts_with("s3://"))
    spec.outputs.push_back(
        {"intermediate", without_trailing_slashes(*uri) + "/" + spec.name + "/output/intermediate",
         "/opt/ml/output/intermediate"});
}

void read_bounds(const Json& request, JobSpec& spec) {
  Json stopping = member(request, "StoppingCondition");
  spec.bounds.max_runtime_ms = base::int_or(stopping, "MaxRuntimeInSeconds", 86'400) * 1000;
  if (base::find(stopping, "MaxWaitTimeInSeconds"))
    spec.bounds.max_wait_ms = base::int_or(stopping, "MaxWaitTimeInSeconds", 0) * 1000;
  if (base::find(stopping, "MaxPendingTimeInSeconds"))
    spec.bounds.max_pending_ms = base::int_or(stopping, "MaxPendingTimeInSeconds", 0) * 1000;
  spec.bounds.retries =
      static_cast<int>(base::int_or(member(request, "RetryStrategy"), "MaximumRetryAttempts", 0));
}

}  // namespace

std::string_view name(InputMode mode) {
  switch (mode) {
    case InputMode::file: return "File";
    case InputMode::fast_file: return "FastFile";
    case InputMode::pipe: return "Pipe";
  }
  return "";
}

JobSpec read_spec(const base::JsonObject& object) {
  const Json request(object);
  JobSpec spec;
  spec.name = base::string_or(request, "TrainingJobName");
  spec.role = base::string_or(request, "RoleArn");
  Json algorithm = member(request, "AlgorithmSpecification");
  spec.image = base::string_or(algorithm, "TrainingImage");
  spec.algorithm_name = base::string_or(algorithm, "AlgorithmName");
  spec.entrypoint = texts(algorithm, "ContainerEntrypoint");
  spec.arguments = texts(algorithm, "ContainerArguments");
  spec.mode = parse_mode(base::string_or(algorithm, "TrainingInputMode"), InputMode::file);
  for (const Json& each : items(algorithm, "MetricDefinitions"))
    spec.metrics.push_back({base::string_or(each, "Name"), base::string_or(each, "Regex")});
  spec.hyperparameters = text_map(request, "HyperParameters");
  spec.environment = text_map(request, "Environment");
  for (const Json& each : items(request, "InputDataConfig"))
    spec.channels.push_back(read_channel(each, spec.mode));
  Json output = member(request, "OutputDataConfig");
  spec.output_path = without_trailing_slashes(base::string_or(output, "S3OutputPath"));
  spec.compress_output = base::string_or(output, "CompressionType") != "NONE";
  Json resources = member(request, "ResourceConfig");
  spec.heterogeneous = base::find(resources, "InstanceGroups") != nullptr;
  spec.groups = read_groups(resources);
  spec.keep_alive_seconds = base::int_or(resources, "KeepAlivePeriodInSeconds", 0);
  if (base::find(resources, "VolumeSizeInGB"))
    spec.volume_gb = base::int_or(resources, "VolumeSizeInGB", 0);
  spec.spot = base::bool_or(request, "EnableManagedSpotTraining", false);
  spec.isolated = base::bool_or(request, "EnableNetworkIsolation", false);
  read_synced_directories(request, spec);
  read_bounds(request, spec);
  return spec;
}

std::vector<HostSlot> JobSpec::hosts() const {
  std::vector<HostSlot> hosts;
  for (const Group& group : groups)
    for (int i = 0; i < group.count; ++i)
      hosts.push_back({"algo-" + std::to_string(hosts.size() + 1), group.name, group.type});
  return hosts;
}

std::map<std::string, int> JobSpec::instances_by_type() const {
  std::map<std::string, int> counts;
  for (const Group& group : groups) counts[group.type] += group.count;
  return counts;
}

int JobSpec::instance_count() const {
  int count = 0;
  for (const Group& group : groups) count += group.count;
  return count;
}

std::optional<std::string> JobSpec::find_hyperparameter(const std::string& key) const {
  auto found = hyperparameters.find(key);
  if (found == hyperparameters.end()) return std::nullopt;
  auto parsed = base::parse_json(found->second);
  if (parsed && parsed->is_string()) return std::string(base::view(parsed->get_string()));
  return found->second;
}

std::optional<std::string> JobSpec::find_setting(const std::string& key) const {
  if (auto given = find_hyperparameter(key)) return given;
  auto variable = environment.find(base::to_upper(key));
  if (variable == environment.end()) return std::nullopt;
  return variable->second;
}

}  // namespace meridian::region::training
