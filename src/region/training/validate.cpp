// SPDX-License-Identifier: Apache-2.0
#include "region/training/validate.h"

#include <algorithm>
#include <iterator>

#include "aws/service.h"
#include "base/strings.h"
#include "region/telemetry/metric_matcher.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonObject;

[[noreturn]] void refuse(const std::string& message) {
  throw aws::ApiError("ValidationException", message);
}

void check_role(const std::string& role) {
  // arn:aws[-cn]:iam::ACCOUNT:role/NAME; the account in it is not trusted, only its form counts.
  auto parts = base::split(role, ':');
  bool good = parts.size() == 6 && parts[0] == "arn" && parts[1].starts_with("aws") &&
              parts[2] == "iam" && parts[4].size() == 12 && base::to_uint(parts[4]) &&
              parts[5].starts_with("role/") && parts[5].size() > 5;
  if (!good)
    refuse("Could not assume role " + role +
           ". RoleArn must have the form arn:aws:iam::ACCOUNT_ID:role/NAME");
}

void check_s3_uri(const std::string& field, const std::string& uri) {
  auto parsed = s3::parse_uri(uri);
  if (!parsed || parsed->bucket.empty())
    refuse("The value '" + uri + "' at " + field + " is not an S3 URI (s3://bucket/prefix)");
}

void check_algorithm(const JobSpec& spec) {
  if (spec.image.empty() == spec.algorithm_name.empty())
    refuse(
        "AlgorithmSpecification must have exactly one of TrainingImage and AlgorithmName; "
        "given: " +
        std::string(spec.image.empty() ? "none" : "both"));
  std::set<std::string> names;
  for (const auto& metric : spec.metrics) {
    if (!names.insert(metric.name).second)
      refuse("MetricDefinitions has the name '" + metric.name + "' twice");
    if (auto wrong = telemetry::check_metric_regex(metric.regex))
      refuse("MetricDefinitions: the Regex of '" + metric.name + "' is refused: " + *wrong);
  }
}

// Types whose size is that of the disks they come with.
bool has_local_disks(const std::string& type) {
  constexpr std::string_view kFamilies[] = {
      "ml.g4dn.", "ml.g5.",  "ml.g6.",   "ml.g6e.",  "ml.gr6.",  "ml.p4d.",   "ml.p4de.",
      "ml.p5.",   "ml.p5e.", "ml.p5en.", "ml.p6-",   "ml.trn1.", "ml.trn1n.", "ml.trn2.",
      "ml.m5d.",  "ml.c5d.", "ml.r5d.",  "ml.i3en.", "ml.m6id.", "ml.c6id.",  "ml.r6id."};
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return type.starts_with(family); });
}

void check_volume(const JobSpec& spec) {
  if (spec.volume_gb) return;
  for (const Group& group : spec.groups)
    if (!has_local_disks(group.type))
      refuse("ResourceConfig.VolumeSizeInGB is required: instances of type " + group.type +
             " have no disks of their own");
}

void check_resources(const Json& request, const JobSpec& spec) {
  const Json* resources = base::find(request, "ResourceConfig");
  if (!resources) refuse("ResourceConfig is required");
  bool flat = base::find(*resources, "InstanceType") || base::find(*resources, "InstanceCount");
  if (spec.heterogeneous && flat)
    refuse(
        "ResourceConfig.InstanceGroups and ResourceConfig.InstanceType/InstanceCount exclude each "
        "other");
  if (!spec.heterogeneous &&
      (!base::find(*resources, "InstanceType") || !base::find(*resources, "InstanceCount")))
    refuse("ResourceConfig must have InstanceType and InstanceCount, or InstanceGroups");
  check_volume(spec);
  std::set<std::string> names;
  for (const Group& group : spec.groups)
    if (!names.insert(group.name).second)
      refuse("ResourceConfig.InstanceGroups has the name '" + group.name + "' twice");
  if (spec.keep_alive_seconds > 0 && spec.spot)
    refuse("KeepAlivePeriodInSeconds can't be combined with EnableManagedSpotTraining");
  if (spec.keep_alive_seconds > 0 && spec.heterogeneous)
    refuse("KeepAlivePeriodInSeconds can't be combined with InstanceGroups");
}

constexpr std::int64_t kMostRuntimeMs = 28ll * 86'400'000, kMostWaitMs = 3'600'000;

bool is_built_in(const JobSpec& spec) {
  const std::string repository = repository_name(spec.image);
  return (repository == "xgboost" || repository == "sagemaker-xgboost") && !spec.has_script() &&
         spec.entrypoint.empty();
}

void check_limits(const Json& request, const JobSpec& spec) {
  if (!base::find(request, "StoppingCondition")) refuse("StoppingCondition is required");
  const Bounds& bounds = spec.bounds;
  if (bounds.max_runtime_ms > kMostRuntimeMs)
    refuse("MaxRuntimeInSeconds (" + std::to_string(bounds.max_runtime_ms / 1000) +
           ") must be at most " + std::to_string(kMostRuntimeMs / 1000) + " (28 days)");
  if (spec.spot && !bounds.max_wait_ms)
    refuse(
        "MaxWaitTimeInSeconds is required in StoppingCondition when EnableManagedSpotTraining is "
        "true");
  if (bounds.max_wait_ms && !spec.spot)
    refuse("MaxWaitTimeInSeconds is only allowed when EnableManagedSpotTraining is true");
  if (bounds.max_wait_ms && *bounds.max_wait_ms < bounds.max_runtime_ms)
    refuse("MaxWaitTimeInSeconds (" + std::to_string(*bounds.max_wait_ms / 1000) +
           ") must be equal to or greater than MaxRuntimeInSeconds (" +
           std::to_string(bounds.max_runtime_ms / 1000) + ")");
  if (bounds.max_wait_ms && *bounds.max_wait_ms > kMostWaitMs && !spec.checkpoints &&
      is_built_in(spec))
    refuse(
        "MaxWaitTimeInSeconds (" + std::to_string(*bounds.max_wait_ms / 1000) +
        ") must be at most " + std::to_string(kMostWaitMs / 1000) +
        " for a built-in algorithm without CheckpointConfig: an interruption loses all its work");
}

void check_pipe_only(const Channel& channel) {
  const std::string where = "Channel '" + channel.name + "': ";
  bool pipe = channel.mode == InputMode::pipe;
  if (!pipe && channel.gzip) refuse(where + "CompressionType Gzip needs InputMode Pipe");
  if (!pipe && channel.record_io) refuse(where + "RecordWrapperType RecordIO needs InputMode Pipe");
  if (!channel.s3) return;
  bool augmented = channel.s3->type == s3::DataType::augmented_manifest;
  if (!pipe && augmented) refuse(where + "S3DataType AugmentedManifestFile needs InputMode Pipe");
  if (augmented && channel.s3->attributes.empty())
    refuse(where + "AttributeNames is required with S3DataType AugmentedManifestFile");
  if (!augmented && !channel.s3->attributes.empty())
    refuse(where + "AttributeNames is only allowed with S3DataType AugmentedManifestFile");
  if (channel.mode == InputMode::fast_file && channel.s3->type != s3::DataType::prefix)
    refuse(where + "InputMode FastFile needs S3DataType S3Prefix");
}

void check_file_system(const Channel& channel, const Settings& settings) {
  const FileSystemSource& source = *channel.file_system;
  if (channel.mode != InputMode::file)
    refuse("Channel '" + channel.name + "': a FileSystemDataSource needs InputMode File");
  if (settings.file_systems.contains(source.id)) return;
  std::vector<std::string> known;
  for (const auto& [id, directory] : settings.file_systems) known.push_back(id);
  refuse("Channel '" + channel.name + "': FileSystemId '" + source.id +
         "' has no directory; set file_systems." + source.id +
         " in config.yaml (known: " + (known.empty() ? "none" : base::join(known, ", ")) + ")");
}

void check_channels(const JobSpec& spec, const Settings& settings) {
  std::set<std::string> names, groups;
  for (const Group& group : spec.groups) groups.insert(group.name);
  for (const Channel& channel : spec.channels) {
    if (!names.insert(channel.name).second)
      refuse("InputDataConfig has the channel '" + channel.name +
             "' twice; channel names must be unique");
    if (channel.s3.has_value() == channel.file_system.has_value())
      refuse("Channel '" + channel.name +
             "': DataSource must have exactly one of S3DataSource and FileSystemDataSource");
    for (const auto& group : channel.instance_groups)
      if (!groups.contains(group))
        refuse("Channel '" + channel.name + "': InstanceGroupNames names '" + group +
               "', which ResourceConfig.InstanceGroups does not have");
    if (channel.s3)
      check_s3_uri("InputDataConfig." + channel.name + ".S3Uri", channel.s3->uri);
    else
      check_file_system(channel, settings);
    check_pipe_only(channel);
  }
}

void check_maps(const JobSpec& spec) {
  if (spec.hyperparameters.size() > 100)
    refuse("HyperParameters has " + std::to_string(spec.hyperparameters.size()) +
           " entries; at most 100 are allowed");
  if (spec.environment.size() > 100)
    refuse("Environment has " + std::to_string(spec.environment.size()) +
           " entries; at most 100 are allowed");
}

void check_outputs(const JobSpec& spec) {
  check_s3_uri("OutputDataConfig.S3OutputPath", spec.output_path);
  if (spec.checkpoints) check_s3_uri("CheckpointConfig.S3Uri", spec.checkpoints->uri);
  for (const SyncedDirectory& each : spec.outputs) check_s3_uri(each.name, each.uri);
  std::vector<SyncedDirectory> all = spec.outputs;
  if (spec.checkpoints) all.push_back(*spec.checkpoints);
  for (const SyncedDirectory& each : all) {
    std::filesystem::path local(each.local_path);
    bool inside = local.is_absolute() && local.lexically_normal() == local;
    if (!inside || base::to_lower(each.local_path).starts_with("/opt/ml/input"))
      refuse("LocalPath '" + each.local_path + "' of " + each.name +
             " must be an absolute, plain path outside /opt/ml/input");
  }
}

}  // namespace

std::vector<std::string> idle_fields(const JsonObject& request) {
  std::vector<std::string> fields;
  for (const auto& [field, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {"DebugRuleConfigurations", "rules are not evaluated"},
           {"ProfilerRuleConfigurations", "rules are not evaluated"},
           {"ExperimentConfig", "there are no experiments here"},
           {"RemoteDebugConfig", "there is no session manager here"},
           {"InfraCheckConfig", "no check is run"},
           {"MlflowConfig", "nothing is sent"},
           {"ModelPackageConfig", "no package is made"}})
    if (request.contains(field)) fields.push_back(std::string(field) + ": kept, but " + what);
  return fields;
}

std::vector<std::string> unenforced_fields(const JsonObject& object) {
  const Json request(object);
  std::vector<std::string> fields;
  auto note = [&](const char* path, const char* what) {
    const Json* value = base::find_path(request, path);
    bool empty = !value || (value->is_bool() && !value->get_bool()) ||
                 (value->is_string() && value->get_string().empty());
    if (!empty) fields.push_back(std::string(path) + ": not enforced (" + what + ")");
  };
  note("VpcConfig", "there are no VPCs here");
  note("EnableInterContainerTrafficEncryption", "traffic stays on this machine, in the clear");
  note("OutputDataConfig.KmsKeyId", "objects are not encrypted");
  note("ResourceConfig.VolumeKmsKeyId", "volumes are not encrypted");
  return fields;
}

void check_request(const JsonObject& object, const JobSpec& spec, const Settings& settings) {
  const Json request(object);
  check_role(spec.role);
  check_algorithm(spec);
  check_resources(request, spec);
  check_limits(request, spec);
  check_maps(spec);
  check_channels(spec, settings);
  check_outputs(spec);
  if (auto fields = unenforced_fields(object); settings.refuse_unenforced && !fields.empty())
    refuse("Refused by --strict: " + base::join(fields, "; "));
}

void check_data(const JobSpec& spec, s3::Objects& objects, const Settings& settings) {
  for (const Channel& channel : spec.channels) {
    if (!channel.s3) continue;
    auto uri = s3::parse_uri(channel.s3->uri);
    bool found = false;
    try {
      found = channel.s3->type == s3::DataType::prefix
                  ? !objects.list(uri->bucket, uri->key, "", 1).objects.empty()
                  : objects.find(uri->bucket, uri->key).has_value();
    } catch (const base::Error& error) {
      if (error.code() != base::Code::not_found) throw;
      refuse("The bucket '" + uri->bucket + "' of channel '" + channel.name + "' does not exist (" +
             channel.s3->uri + ")");
    }
    if (!found)
      refuse("No S3 objects found under S3 URL \"" + channel.s3->uri +
             "\" given in input data source "
             "of channel '" +
             channel.name + "'. Please ensure that the bucket exists in the region " +
             settings.region + ", that objects exist under that S3 prefix, and that role \"" +
             spec.role + "\" may list them.");
  }
}

}  // namespace meridian::region::training
