// A CreateTrainingJob request as typed values, for everything that carries it out.
//
// The record keeps the request as it was received; this is read from it whenever it is needed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "region/capacity/capacity.h"
#include "region/telemetry/telemetry.h"
#include "region/training/plan.h"
#include "run/script/launcher.h"
#include "s3/staging.h"

namespace meridian::region::training {

enum class InputMode { file, fast_file, pipe };
std::string_view name(InputMode mode);  // as the API spells it

struct FileSystemSource {
  std::string id, type, directory;  // directory: the path inside the file system
  bool writable = false;
};

struct Channel {
  std::string name, content_type;
  InputMode mode = InputMode::file;
  std::optional<s3::ChannelSource> s3;
  std::optional<FileSystemSource> file_system;
  bool gzip = false, record_io = false;
  std::set<std::string> instance_groups;  // empty = all

  bool is_for(const std::string& group) const {
    return instance_groups.empty() || instance_groups.contains(group);
  }
};

struct Group {
  std::string name, type;
  int count = 1;
};

struct HostSlot {
  std::string host;  // algo-1
  std::string group, type;
};

// A directory inside that is kept in S3 while the program runs.
struct SyncedDirectory {
  std::string name;  // checkpoints, tensorboard, debug, profiler
  std::string uri;
  std::string local_path;
};

struct JobSpec {
  std::string name, role, image, algorithm_name;
  std::vector<std::string> entrypoint, arguments;
  InputMode mode = InputMode::file;
  std::vector<telemetry::MetricDefinition> metrics;
  std::map<std::string, std::string> hyperparameters, environment;
  std::vector<Channel> channels;
  std::string output_path;  // without trailing slash
  bool compress_output = true;
  bool heterogeneous = false;  // InstanceGroups were given
  std::vector<Group> groups;   // one group "homogeneousCluster" otherwise
  std::optional<SyncedDirectory> checkpoints;
  std::vector<SyncedDirectory> outputs;  // TensorBoard, debug hook, profiler
  bool spot = false, isolated = false;
  std::int64_t keep_alive_seconds = 0;
  std::optional<std::int64_t> volume_gb;
  Bounds bounds;

  std::vector<HostSlot> hosts() const;  // algo-1 first
  std::map<std::string, int> instances_by_type() const;
  int instance_count() const;
  // <S3OutputPath>/<TrainingJobName>/output
  std::string output_prefix() const { return output_path + "/" + name + "/output"; }
  // The hyperparameter, with the JSON quotes that SDKs put around text taken off.
  std::optional<std::string> find_hyperparameter(const std::string& key) const;
  // The same, else the environment variable of that name in capitals: a sagemaker_* setting.
  std::optional<std::string> find_setting(const std::string& key) const;
  bool has_script() const { return find_setting("sagemaker_program").has_value(); }
};

// Of a request that passed the API model. Error(invalid_argument) for what the model can't say.
JobSpec read_spec(const base::JsonObject& request);

}  // namespace meridian::region::training
