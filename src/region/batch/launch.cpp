// SPDX-License-Identifier: Apache-2.0
#include "region/batch/launch.h"

#include <algorithm>

#include "region/training/environment.h"
#include "region/training/launch.h"

namespace meridian::region::batch {
namespace {

namespace fs = std::filesystem;
using training::Environment;

bool is_within(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// What programs must not see must not be mounted for them either, nor a directory around it.
void check_volume(const Core& core, const Volume& volume) {
  const fs::path real = fs::weakly_canonical(volume.host);
  if (!fs::exists(real))
    throw base::Error(base::Code::invalid_argument,
                      "the volume's host path '" + volume.host + "' is not on this machine");
  for (const fs::path& hidden : core.settings.hidden) {
    const fs::path secret = fs::weakly_canonical(hidden);
    if (is_within(real, secret) || is_within(secret, real))
      throw base::Error(base::Code::invalid_argument,
                        "the volume's host path '" + volume.host +
                            "' reaches directories that programs must not see");
  }
}

std::vector<run::Mount> mounts_for(const Core& core, const Container& container,
                                   const fs::path& directory) {
  using Mode = run::Mount::Mode;
  std::vector<run::Mount> mounts;
  std::size_t number = 0;
  for (const Volume& volume : container.volumes) {
    fs::path host = volume.host;
    if (host.empty())
      host =
          directory / ("volume-" + std::to_string(number++));  // empty, and gone with the attempt
    else
      check_volume(core, volume);
    mounts.push_back({host, volume.inside, volume.read_only ? Mode::read_only : Mode::read_write});
  }
  if (!core.settings.tools_directory.empty())
    mounts.push_back({core.settings.tools_directory, training::kTools, Mode::read_only});
  return mounts;
}

Environment platform_environment(const Core& core, const training::Program& program,
                                 const LaunchFacts& facts) {
  Environment environment =
      training::environment_of({.python = program.python,
                                .tools_directory = core.settings.tools_directory,
                                .region = core.settings.region});
  training::add_access(facts.keys, core.settings.endpoint_url, environment);
  return environment;
}

void add_batch_environment(const JobRecord& job, const JobSpec& spec, const Run& run,
                           std::size_t node, Environment& environment) {
  std::string id = job.child_id(run.index);
  if (spec.is_multi_node()) {
    id += "#" + std::to_string(node);
    environment["AWS_BATCH_JOB_NODE_INDEX"] = std::to_string(node);
    environment["AWS_BATCH_JOB_MAIN_NODE_INDEX"] = std::to_string(spec.main_node);
    environment["AWS_BATCH_JOB_NUM_NODES"] = std::to_string(spec.containers.size());
    if (node != static_cast<std::size_t>(spec.main_node))
      environment["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] =
          training::host_address(static_cast<std::size_t>(spec.main_node));
  }
  environment["AWS_BATCH_JOB_ID"] = id;
  environment["AWS_BATCH_JOB_ATTEMPT"] = std::to_string(run.attempt);
  environment["AWS_BATCH_CE_NAME"] = run.environment;
  environment["AWS_BATCH_JQ_NAME"] = job.queue;
  if (!job.is_array()) return;
  environment["AWS_BATCH_JOB_ARRAY_INDEX"] = std::to_string(run.index);
  environment["AWS_BATCH_JOB_ARRAY_SIZE"] = std::to_string(job.size);
}

std::vector<int> gpus_of(const JobSpec& spec, std::size_t node, const std::vector<int>& all) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < node; ++i) first += static_cast<std::size_t>(spec.containers[i].gpus);
  std::vector<int> own;
  for (int i = 0; i < spec.containers[node].gpus && first < all.size(); ++i)
    own.push_back(all[first++]);
  return own;
}

}  // namespace

std::string log_stream(const JobSpec& spec, const Run& run, std::size_t node) {
  return spec.is_multi_node() ? run.log_stream + "-" + std::to_string(node) : run.log_stream;
}

std::vector<training::Program> choose_programs(const Core& core, const JobSpec& spec) {
  std::map<std::string, training::Program> known;
  std::vector<training::Program> programs;
  for (const Container& container : spec.containers) {
    const auto found = known.find(container.image);
    if (found != known.end()) {
      programs.push_back(found->second);
      continue;
    }
    auto decided = training::decide_program({.image = container.image,
                                             .has_entrypoint = !container.command.empty(),
                                             .python = core.settings.python},
                                            core.settings.image_rules, core.settings.probe);
    if (!decided) throw base::Error(base::Code::invalid_argument, decided.error());
    if (decided->kind == training::Program::Kind::xgboost ||
        (decided->kind == training::Program::Kind::host && container.command.empty()))
      throw base::Error(base::Code::invalid_argument,
                        "the image " + container.image +
                            " runs on the host here and needs a command: give "
                            "containerProperties.command");
    known.emplace(container.image, *decided);
    programs.push_back(std::move(*decided));
  }
  return programs;
}

run::InstanceSpec instance_spec(const Core& core, const JobRecord& job, const JobSpec& spec,
                                const Run& run, std::size_t node, const LaunchFacts& facts) {
  const Container& container = spec.containers.at(node);
  const training::Program& program = facts.programs.at(node);
  run::InstanceSpec instance;
  instance.gang = core.gang_id(job.id, run);
  instance.hostname = Core::host_name(node);
  instance.id = instance.gang + "/" + instance.hostname;
  instance.directory = core.attempt_directory(job.id, run) / instance.hostname;
  for (std::size_t i = 0; i < spec.containers.size(); ++i)
    instance.hosts.push_back({Core::host_name(i), training::host_address(i)});
  instance.argv = container.command;
  if (program.kind == training::Program::Kind::oci) instance.image = program.image;
  instance.environment = platform_environment(core, program, facts);
  for (const auto& [name, value] : container.environment) instance.environment[name] = value;
  add_batch_environment(job, spec, run, node, instance.environment);
  instance.mounts = mounts_for(core, container, instance.directory);
  instance.hidden = core.settings.hidden;
  instance.limits = {.memory_bytes = container.memory_bytes};
  instance.gpus = gpus_of(spec, node, facts.gpus);
  instance.network = core.settings.network;
  instance.endpoint_socket = core.settings.endpoint_socket;
  instance.endpoint_port = core.settings.endpoint_port;
  instance.credentials =
      run::JobCredentials{.access_key_id = facts.keys.id,
                          .secret = facts.keys.secret,
                          .session_token = facts.keys.session_token,
                          .role_arn = container.role,
                          .expires = facts.keys.expires.value_or(base::Timestamp{})};
  instance.log_file = facts.log_files.at(node);
  instance.grace = core.settings.grace;
  return instance;
}

}  // namespace meridian::region::batch
