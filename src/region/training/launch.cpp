// SPDX-License-Identifier: Apache-2.0
#include "region/training/launch.h"

#include <set>

#include "region/training/environment.h"
#include "region/training/fast_file.h"
#include "region/training/layout.h"
#include "region/training/staging.h"

namespace meridian::region::training {
namespace {

namespace fs = std::filesystem;
// Where the built-in algorithm lies inside: its own place on the host may be hidden there.
constexpr char kXgboost[] = "/opt/meridian/algorithms/meridian-xgboost";

// What the platform gives before the request's own Environment, which may override it.
Environment platform_environment(const Core& core, const JobRecord& record, const JobSpec& spec,
                                 const LaunchFacts& facts) {
  Environment environment = environment_of({.python = parse_program(record.program).python,
                                            .tools_directory = core.settings.tools_directory,
                                            .region = core.settings.region});
  environment["TRAINING_JOB_NAME"] = record.name;
  environment["TRAINING_JOB_ARN"] = record.arn;
  // Isolated: no way to a service, no keys.
  if (!spec.isolated) add_access(facts.keys, core.settings.endpoint_url, environment);
  return environment;
}

run::ScriptJob script_job(const Core& core, const JobRecord& record, const JobSpec& spec,
                          const HostSlot& slot, const LaunchFacts& facts, int gpus) {
  run::ScriptJob job{.job_name = record.name,
                     .job_arn = record.arn,
                     .region = core.settings.region,
                     .current_host = slot.host,
                     .current_group = slot.group,
                     .hyperparameters = spec.hyperparameters,
                     .environment = spec.environment,
                     .input_data_config = input_data_config(spec, slot)};
  auto hosts = spec.hosts();
  for (const Group& group : spec.groups) {
    run::GroupHosts members{group.name, group.type, {}};
    for (const HostSlot& each : hosts)
      if (each.group == group.name) members.hosts.push_back(each.host);
    job.groups.push_back(std::move(members));
  }
  job.cpus =
      capacity::cpu_share(core.pool_for(slot.type), slot.type, spec.instance_count(), facts.cores);
  job.gpus = gpus;
  Program program = parse_program(record.program);
  if (!program.python.empty()) job.python = program.python;
  return job;
}

std::vector<SyncedDirectory> synced_of(const JobSpec& spec) {
  std::vector<SyncedDirectory> synced = spec.outputs;
  if (spec.checkpoints) synced.push_back(*spec.checkpoints);
  return synced;
}

// /opt/ml. Of an image only what the platform fills or reads is covered: what else the image has
// there, its code above all, stays to be seen.
std::vector<run::Mount> ml_mounts(const fs::path& ml, const JobSpec& spec, const Program& program) {
  using Mode = run::Mount::Mode;
  if (program.kind != Program::Kind::oci) return {{ml, "/opt/ml", Mode::read_write}};
  std::set<std::string> parts{"input", "model", "output", "errors", "checkpoints"};
  for (const SyncedDirectory& each : synced_of(spec)) {
    const fs::path inside = fs::path(each.local_path).lexically_relative("/opt/ml");
    if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".")
      parts.insert(inside.begin()->string());
  }
  if (!program.brings_code && spec.find_setting("sagemaker_submit_directory")) parts.insert("code");
  std::vector<run::Mount> mounts;
  for (const std::string& part : parts)
    mounts.push_back({ml / part, fs::path("/opt/ml") / part, Mode::read_write});
  return mounts;
}

std::vector<run::Mount> mounts_for(const Core& core, const JobRecord& record, const JobSpec& spec,
                                   const HostSlot& slot) {
  using Mode = run::Mount::Mode;
  const fs::path instance = core.instance_directory(record, slot.host);
  const Program program = parse_program(record.program);
  std::vector<run::Mount> mounts = ml_mounts(ml_directory(instance), spec, program);
  for (const Channel& channel : spec.channels) {
    if (!channel.is_for(slot.group) || channel.mode == InputMode::pipe) continue;
    const fs::path inside = fs::path("/opt/ml/input/data") / channel.name;
    if (channel.file_system) {
      mounts.push_back({file_system_directory(core.settings, *channel.file_system), inside,
                        channel.file_system->writable ? Mode::read_write : Mode::read_only});
    } else if (const fs::path index = index_file(core.directory(record), channel, slot.host);
               fs::exists(index)) {
      mounts.push_back({index, inside, Mode::on_demand});
    } else {
      mounts.push_back(
          {channel_directory(core.directory(record), channel, slot.host), inside, Mode::overlay});
    }
  }
  for (const SyncedDirectory& each : synced_of(spec))
    if (auto local = synced_directory(each); local.needs_mount)
      mounts.push_back({instance / local.below, each.local_path, Mode::read_write});
  if (!core.settings.tools_directory.empty())
    mounts.push_back({core.settings.tools_directory, kTools, Mode::read_only});
  if (program.kind == Program::Kind::xgboost)
    mounts.push_back(
        {core.settings.algorithms_directory / "meridian-xgboost", kXgboost, Mode::read_only});
  return mounts;
}

void set_command(const JobSpec& spec, const Program& program, const run::ScriptJob& job,
                 run::InstanceSpec& instance) {
  auto add = [&](const Environment& more) {
    for (const auto& [name, value] : more) instance.environment[name] = value;
  };
  if (program.kind == Program::Kind::oci && !spec.entrypoint.empty()) {
    instance.entrypoint = spec.entrypoint;  // instead of the image's own
    instance.argv = spec.arguments;
    add(run::script_environment(job));
  } else if (!spec.entrypoint.empty()) {
    instance.argv = spec.entrypoint;
    instance.argv.insert(instance.argv.end(), spec.arguments.begin(), spec.arguments.end());
    add(run::script_environment(job));
  } else if (program.kind == Program::Kind::oci) {
    instance.argv = spec.arguments.empty() ? std::vector<std::string>{"train"} : spec.arguments;
  } else if (program.kind == Program::Kind::xgboost) {
    instance.argv = {kXgboost, "train"};
    add(run::script_environment(job));
  } else {
    run::Launch launch = run::plan_launch(job);
    instance.argv = launch.argv;
    instance.working_directory = "/opt/ml/code";
    add(launch.environment);
  }
  if (program.kind != Program::Kind::oci) return;
  instance.image = program.image;
  auto ours = run::mpi_environment();  // the request's own words win
  instance.environment.merge(ours);
}

}  // namespace

std::vector<int> gpus_of(const JobRecord& record, const JobSpec& spec, std::size_t index) {
  std::size_t each = record.gpus.size() / std::max(1, spec.instance_count());
  auto first = record.gpus.begin() + static_cast<std::ptrdiff_t>(index * each);
  return {first, first + static_cast<std::ptrdiff_t>(each)};
}

std::string host_address(std::size_t index) {
  // 127.0.1.1 … 127.0.1.254, 127.0.2.1 …
  return "127.0." + std::to_string(1 + index / 254) + "." + std::to_string(1 + index % 254);
}

run::InstanceSpec instance_spec(const Core& core, const JobRecord& record, const JobSpec& spec,
                                const HostSlot& slot, const LaunchFacts& facts) {
  auto hosts = spec.hosts();
  std::size_t index = 0;
  run::InstanceSpec instance;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    instance.hosts.push_back({hosts[i].host, host_address(i)});
    if (hosts[i].host == slot.host) index = i;
  }
  const capacity::Pool pool = core.pool_for(slot.type);
  instance.id = core.instance_id(record, slot.host);
  instance.gang = core.gang_id(record);
  instance.directory = core.instance_directory(record, slot.host);
  instance.hostname = slot.host;
  instance.gpus = gpus_of(record, spec, index);
  instance.mounts = mounts_for(core, record, spec, slot);
  instance.hidden = core.settings.hidden;
  instance.limits = {.cpus = pool.cpus, .memory_bytes = pool.memory_bytes};
  instance.network = spec.isolated ? run::Network::isolated : core.settings.network;
  if (!spec.isolated) {
    instance.endpoint_socket = core.settings.endpoint_socket;
    instance.endpoint_port = core.settings.endpoint_port;
    instance.credentials = {.access_key_id = facts.keys.id,
                            .secret = facts.keys.secret,
                            .session_token = facts.keys.session_token,
                            .role_arn = spec.role,
                            .expires = facts.keys.expires.value_or(base::Timestamp{})};
  }
  if (auto file = facts.log_files.find(slot.host); file != facts.log_files.end())
    instance.log_file = file->second;
  instance.grace = core.settings.grace;
  instance.environment = platform_environment(core, record, spec, facts);
  for (const auto& [name, value] : spec.environment) instance.environment[name] = value;
  run::ScriptJob job =
      script_job(core, record, spec, slot, facts, static_cast<int>(instance.gpus.size()));
  set_command(spec, parse_program(record.program), job, instance);
  return instance;
}

}  // namespace meridian::region::training
