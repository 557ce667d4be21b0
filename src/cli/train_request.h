// From the flags of `meridian train` to a CreateTrainingJob request, without touching anything.
//
// Error(invalid_argument) names the flag, its value and what is allowed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace meridian::cli {

struct TrainOptions {
  std::string script, source;         // the program, and the directory that goes with it
  std::vector<std::string> channels;  // NAME=PATH or NAME=s3://…
  std::vector<std::string> hyperparameters, metrics, environment, tags;  // NAME=VALUE
  std::string content_type, input_mode = "File";
  int instances = 1, processes = 0, volume_gb = 30, retries = 0;
  int max_run = 86'400, max_wait = 0, keep_alive = 0;  // seconds
  std::string instance_type = "ml.m5.large";
  std::string framework, image;
  bool mpi = false, torch = false, spot = false, isolated = false, shard = false;
  bool no_checkpoints = false, detach = false, dry_run = false;
  std::string mpi_options, entrypoint;
  std::string job_name, output, checkpoints, role;
  std::string format = "table";
};

// "name=value" split at the first '='. Error names `flag`.
std::pair<std::string, std::string> split_assignment(std::string_view text, std::string_view flag);

struct LocalChannel {
  std::string name;
  std::filesystem::path path;
};

// What must be uploaded before the request is true.
struct TrainPlan {
  std::string job, bucket;
  bool own_bucket = false;            // the bucket is Meridian's default: made when it is missing
  std::vector<LocalChannel> uploads;  // to s3://bucket/<job>/input/<name>/
  std::optional<std::filesystem::path> code;  // directory or file for sourcedir.tar.gz
  std::string code_key;                       // where it goes
  std::vector<std::pair<std::string, std::string>> metrics;  // name, regex: for the live view
  std::shared_ptr<const base::JsonObject> request;           // CreateTrainingJob
};

struct TrainContext {
  std::string account, region;
  base::Timestamp now{};
};
// Looks at the file system only to see what exists and of which kind it is.
TrainPlan plan_training(const TrainOptions& options, const TrainContext& context);

// The image that stands for a framework: "pytorch" → …/pytorch-training:…
std::string framework_image(std::string_view framework, std::string_view region);
// <base>-YYYYMMDD-HHMMSS, at most 63 of [A-Za-z0-9-].
std::string make_job_name(std::string_view base, base::Timestamp now);

}  // namespace meridian::cli
