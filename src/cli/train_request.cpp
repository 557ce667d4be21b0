// SPDX-License-Identifier: Apache-2.0
#include "cli/train_request.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "base/strings.h"

namespace meridian::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::JsonArray;
using base::JsonObject;

struct Framework {
  std::string name, repository;
};
const std::vector<Framework> kFrameworks{
    {"pytorch", "763104351884/pytorch-training:latest"},
    {"tensorflow", "763104351884/tensorflow-training:latest"},
    {"scikit-learn", "246618743249/sagemaker-scikit-learn:latest"},
    {"xgboost", "246618743249/sagemaker-xgboost:latest"},
};

[[noreturn]] void refuse(std::string message) {
  throw base::Error(base::Code::invalid_argument, std::move(message));
}

// Only what a job name may hold; runs of anything else become one '-'.
std::string name_part(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

std::string base_name(const TrainOptions& options) {
  const auto stem = fs::path(options.script).stem().string();
  const bool says_little = stem.empty() || stem == "train" || stem == "main" || stem == "run";
  if (!stem.empty() && !says_little) return stem;
  if (!options.source.empty())
    return fs::absolute(options.source).lexically_normal().filename().string();
  if (!options.image.empty()) {
    auto name = options.image.substr(options.image.rfind('/') + 1);
    return name.substr(0, name.find(':'));
  }
  return "train";
}

Json string_map(const std::vector<std::string>& pairs, std::string_view flag) {
  JsonObject map;
  for (const auto& pair : pairs) {
    auto [name, value] = split_assignment(pair, flag);
    map[name] = value;
  }
  return map;
}

void check(const TrainOptions& options) {
  if (options.script.empty() && options.image.empty() && options.framework != "xgboost")
    refuse("nothing to train: give --script PROGRAM, or --image NAME of an image or algorithm");
  if (options.mpi && options.torch) refuse("--mpi and --torch exclude each other");
  if (options.processes > 0 && !options.mpi && !options.torch)
    refuse("--processes says how many ranks an instance runs: add --mpi or --torch");
  if (!options.mpi_options.empty() && !options.mpi) refuse("--mpi-options needs --mpi");
  if (options.instances < 1)
    refuse("--instances must be at least 1, not " + std::to_string(options.instances));
  if (!options.framework.empty() && !options.image.empty())
    refuse("--framework and --image exclude each other: a framework stands for an image");
  if (options.spot && options.max_wait != 0 && options.max_wait < options.max_run)
    refuse("--max-wait must be at least --max-run (" + std::to_string(options.max_run) + " s)");
}

// The program's name inside the code directory, and what is packed.
struct Code {
  std::string program;
  fs::path packed;
};

Code find_code(const TrainOptions& options) {
  const fs::path script(options.script);
  if (options.source.empty()) {
    if (!fs::is_regular_file(script))
      refuse("--script " + options.script +
             ": no such file; with --source DIR it is looked up "
             "there");
    return {script.filename().string(), script};
  }
  const fs::path source(options.source);
  if (!fs::is_directory(source)) refuse("--source " + options.source + ": no such directory");
  if (script.is_relative() && fs::is_regular_file(source / script))
    return {script.lexically_normal().string(), source};
  // Given relative to here instead of to the source directory.
  const auto relative = fs::absolute(script).lexically_relative(fs::absolute(source));
  if (fs::is_regular_file(script) && !relative.empty() && *relative.begin() != "..")
    return {relative.string(), source};
  refuse("--script " + options.script + ": no such file in --source " + options.source);
}

JsonObject hyperparameters(const TrainOptions& options, const TrainPlan& plan,
                           const std::string& program, const TrainContext& context) {
  JsonObject all = string_map(options.hyperparameters, "--hp").as_object();
  if (!program.empty()) {
    all["sagemaker_program"] = program;
    all["sagemaker_submit_directory"] = "s3://" + plan.bucket + "/" + plan.code_key;
    all["sagemaker_job_name"] = plan.job;
    all["sagemaker_region"] = context.region;
  }
  const auto processes = std::to_string(std::max(1, options.processes));
  if (options.mpi) {
    all["sagemaker_mpi_enabled"] = "true";
    all["sagemaker_mpi_num_of_processes_per_host"] = processes;
    if (!options.mpi_options.empty()) all["sagemaker_mpi_custom_mpi_options"] = options.mpi_options;
  }
  if (options.torch) {
    all["sagemaker_torch_distributed_enabled"] = "true";
    if (options.processes > 0) all["sagemaker_torch_processes_per_host"] = processes;
  }
  return all;
}

// From the extension of what is there, as algorithms want to be told.
std::string guess_content_type(const fs::path& path) {
  std::error_code ignored;
  const auto of = [](const fs::path& file) -> std::string {
    const auto extension = file.extension().string();
    if (extension == ".csv") return "text/csv";
    if (extension == ".libsvm" || extension == ".svm") return "text/libsvm";
    if (extension == ".parquet") return "application/x-parquet";
    return "";
  };
  if (!fs::is_directory(path)) return of(path);
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored))
      if (auto type = of(entry.path()); !type.empty()) return type;
  return "";
}

JsonArray plan_channels(const TrainOptions& options, TrainPlan& plan) {
  JsonArray channels;
  for (const auto& text : options.channels) {
    auto [name, place] = split_assignment(text, "--channel");
    std::string type = options.content_type;
    std::string uri = place;
    if (!place.starts_with("s3://")) {
      if (!fs::exists(place))
        refuse("--channel " + text + ": no such file or directory '" + place +
               "'; data in S3 is given as s3://bucket/prefix");
      plan.uploads.push_back({name, place});
      uri = "s3://" + plan.bucket + "/" + plan.job + "/input/" + name + "/";
      if (type.empty()) type = guess_content_type(place);
    }
    JsonObject source{{"S3DataType", "S3Prefix"}, {"S3Uri", uri}};
    source["S3DataDistributionType"] = options.shard ? "ShardedByS3Key" : "FullyReplicated";
    JsonObject channel{{"ChannelName", name},
                       {"DataSource", JsonObject{{"S3DataSource", std::move(source)}}}};
    if (!type.empty()) channel["ContentType"] = type;
    channels.emplace_back(std::move(channel));
  }
  return channels;
}

JsonObject algorithm(const TrainOptions& options, const TrainPlan& plan,
                     const TrainContext& context) {
  JsonObject spec{{"TrainingInputMode", options.input_mode}};
  if (!options.image.empty())
    spec["TrainingImage"] = options.image;
  else
    spec["TrainingImage"] =
        options.framework.empty() ? "host" : framework_image(options.framework, context.region);
  if (!options.entrypoint.empty()) {
    JsonArray words;
    for (const auto& word : base::split(options.entrypoint, ' '))
      if (!word.empty()) words.emplace_back(word);
    spec["ContainerEntrypoint"] = std::move(words);
  }
  JsonArray metrics;
  for (const auto& [name, regex] : plan.metrics)
    metrics.emplace_back(JsonObject{{"Name", name}, {"Regex", regex}});
  if (!metrics.empty()) spec["MetricDefinitions"] = std::move(metrics);
  return spec;
}

JsonObject stopping(const TrainOptions& options) {
  JsonObject limits{{"MaxRuntimeInSeconds", options.max_run}};
  if (options.spot)
    limits["MaxWaitTimeInSeconds"] = options.max_wait != 0 ? options.max_wait : options.max_run;
  return limits;
}

void add_rest(JsonObject& request, const TrainOptions& options, const TrainPlan& plan) {
  JsonObject resources{{"InstanceType", options.instance_type},
                       {"InstanceCount", options.instances},
                       {"VolumeSizeInGB", options.volume_gb}};
  if (options.keep_alive > 0) resources["KeepAlivePeriodInSeconds"] = options.keep_alive;
  request["ResourceConfig"] = std::move(resources);
  request["StoppingCondition"] = stopping(options);
  if (!options.no_checkpoints)
    request["CheckpointConfig"] =
        JsonObject{{"S3Uri", options.checkpoints.empty()
                                 ? "s3://" + plan.bucket + "/" + plan.job + "/checkpoints"
                                 : options.checkpoints}};
  if (options.spot) request["EnableManagedSpotTraining"] = true;
  if (options.isolated) request["EnableNetworkIsolation"] = true;
  if (options.retries > 0)
    request["RetryStrategy"] = JsonObject{{"MaximumRetryAttempts", options.retries}};
  if (!options.environment.empty())
    request["Environment"] = string_map(options.environment, "--env");
  JsonArray tags;
  for (const auto& tag : options.tags) {
    auto [key, value] = split_assignment(tag, "--tag");
    tags.emplace_back(JsonObject{{"Key", key}, {"Value", value}});
  }
  if (!tags.empty()) request["Tags"] = std::move(tags);
}

}  // namespace

std::pair<std::string, std::string> split_assignment(std::string_view text, std::string_view flag) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    refuse(std::string(flag) + " " + std::string(text) + ": expected NAME=VALUE");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string framework_image(std::string_view framework, std::string_view region) {
  std::vector<std::string> names;
  for (const auto& known : kFrameworks) {
    names.push_back(known.name);
    if (known.name != framework) continue;
    const auto slash = known.repository.find('/');
    return known.repository.substr(0, slash) + ".dkr.ecr." + std::string(region) +
           ".amazonaws.com" + known.repository.substr(slash);
  }
  const auto near = base::nearest(framework, names);
  refuse("--framework " + std::string(framework) + ": unknown; one of " + base::join(names, ", ") +
         (near ? "; did you mean '" + *near + "'?" : ""));
}

std::string make_job_name(std::string_view base, base::Timestamp now) {
  const auto stamp = base::format_amz_date(now);  // 20260131T120000Z
  auto name = name_part(base).substr(0, 47);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return (name.empty() ? "train" : name) + "-" + stamp.substr(0, 8) + "-" + stamp.substr(9, 6);
}

TrainPlan plan_training(const TrainOptions& options, const TrainContext& context) {
  check(options);
  TrainPlan plan;
  plan.job =
      options.job_name.empty() ? make_job_name(base_name(options), context.now) : options.job_name;
  plan.bucket = "meridian-" + context.region + "-" + context.account;
  for (const auto& metric : options.metrics)
    plan.metrics.push_back(split_assignment(metric, "--metric"));
  std::string program;
  if (!options.script.empty()) {
    auto code = find_code(options);
    program = code.program;
    plan.code = code.packed;
    plan.code_key = plan.job + "/source/sourcedir.tar.gz";
  }
  JsonObject request{
      {"TrainingJobName", plan.job},
      {"RoleArn",
       options.role.empty() ? "arn:aws:iam::" + context.account + ":role/meridian" : options.role}};
  request["AlgorithmSpecification"] = algorithm(options, plan, context);
  if (auto all = hyperparameters(options, plan, program, context); !all.empty())
    request["HyperParameters"] = std::move(all);
  if (auto channels = plan_channels(options, plan); !channels.empty())
    request["InputDataConfig"] = std::move(channels);
  request["OutputDataConfig"] =
      JsonObject{{"S3OutputPath",
                  options.output.empty() ? "s3://" + plan.bucket + "/output" : options.output}};
  add_rest(request, options, plan);
  plan.own_bucket = plan.code || !plan.uploads.empty() || options.output.empty() ||
                    (!options.no_checkpoints && options.checkpoints.empty());
  plan.request = std::make_shared<const JsonObject>(std::move(request));
  return plan;
}

}  // namespace meridian::cli
