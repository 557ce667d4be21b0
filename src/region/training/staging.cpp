// SPDX-License-Identifier: Apache-2.0
#include "region/training/staging.h"

#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "base/strings.h"
#include "region/training/fast_file.h"
#include "region/training/layout.h"
#include "region/training/platform_files.h"
#include "region/training/run_record.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonObject;
namespace fs = std::filesystem;

constexpr std::size_t kMostCode = 1u << 30;

Program choose_program(const Core& core, const JobSpec& spec) {
  ImageQuestion question{.image = spec.image.empty() ? spec.algorithm_name : spec.image,
                         .has_script = spec.has_script(),
                         .has_entrypoint = !spec.entrypoint.empty(),
                         .python = core.settings.python};
  auto decided = decide_program(question, core.settings.image_rules, core.settings.probe);
  if (!decided) throw base::Error(base::Code::invalid_argument, decided.error());
  if (decided->kind == Program::Kind::xgboost && core.settings.algorithms_directory.empty())
    throw base::Error(base::Code::invalid_argument,
                      "the built-in algorithm xgboost is not part of this installation");
  if (decided->kind == Program::Kind::oci && core.settings.probe.has_code)
    decided->brings_code = core.settings.probe.has_code(decided->image);
  return *decided;
}

// The hosts that get the channel, in order.
std::vector<HostSlot> receivers(const std::vector<HostSlot>& hosts, const Channel& channel) {
  std::vector<HostSlot> chosen;
  for (const HostSlot& slot : hosts)
    if (channel.is_for(slot.group)) chosen.push_back(slot);
  return chosen;
}

// What File channels take of each host's volume.
class Volumes {
 public:
  explicit Volumes(std::optional<std::int64_t> gigabytes) : gigabytes_(gigabytes) {}

  void add(const std::string& host, const std::vector<s3::ChannelObject>& objects) {
    std::uint64_t& used = used_[host];
    for (const auto& object : objects) used += object.info.size;
    if (!gigabytes_ || used <= static_cast<std::uint64_t>(*gigabytes_) << 30) return;
    throw base::Error(base::Code::resource_exhausted,
                      "the input data takes " + base::format_bytes(used) + " on " + host +
                          ", more than ResourceConfig.VolumeSizeInGB (" +
                          std::to_string(*gigabytes_) + ") has room for");
  }

 private:
  const std::optional<std::int64_t> gigabytes_;
  std::map<std::string, std::uint64_t> used_;
};

struct StagedChannel {
  JsonObject digest;                    // for the run record
  std::vector<std::string> manifests;   // of each host, or of all
  std::optional<std::string> obstacle;  // why FastFile became File
};

StagedChannel stage_channel(Core& core, const fs::path& job, const Channel& channel,
                            const Program& program, const std::vector<HostSlot>& hosts,
                            Volumes& volumes, const s3::OnProgress& progress,
                            std::stop_token stop) {
  bool sharded = channel.s3->distribution == s3::Distribution::sharded;
  bool fast_file = channel.mode == InputMode::fast_file;
  const s3::ChannelSource source =
      fast_file ? require_folder(core.parts.objects, *channel.s3) : *channel.s3;
  std::size_t count = sharded ? hosts.size() : 1;
  InputDigest digest;
  StagedChannel staged;
  for (std::size_t i = 0; i < count; ++i) {
    auto objects = s3::list_channel(core.parts.objects, source, i, count);
    if (fast_file) keep_named_object(objects, source);
    digest.add(objects);
    if (channel.mode == InputMode::pipe) continue;
    if (objects.empty())
      throw base::Error(base::Code::invalid_argument, "ShardedByS3Key leaves " + hosts[i].host +
                                                          " without an object (" +
                                                          std::to_string(count) + " hosts)");
    if (channel.mode == InputMode::file) {
      for (std::size_t host = i; host < (sharded ? i + 1 : hosts.size()); ++host)
        volumes.add(hosts[host].host, objects);
      staged.manifests.push_back(channel_manifest(objects));
    }
    if (fast_file) {
      staged.obstacle =
          show_on_demand(core, program, objects, index_file(job, channel, hosts[i].host));
      if (!staged.obstacle) continue;
    }
    fs::path target = channel_directory(job, channel, hosts[i].host);
    base::make_directories(target);
    s3::stage(core.parts.objects, objects, target, s3::Decompress::none, progress, stop);
  }
  staged.digest = digest.finish();
  return staged;
}

// Whether the daemon itself has to read it before the program starts.
bool ships_code(const JobSpec& spec, const Channel& channel) {
  auto where = spec.find_setting("sagemaker_submit_directory");
  return where && where->starts_with("/opt/ml/input/data/" + channel.name + "/");
}

// Returns the channels' digests.
JsonObject stage_channels(Core& core, const JobRecord& record, const JobSpec& spec, Staged& result,
                          const s3::OnProgress& progress, std::stop_token stop) {
  JsonObject digests;
  Volumes volumes(spec.volume_gb);
  auto hosts = spec.hosts();
  for (Channel channel : spec.channels) {
    auto chosen = receivers(hosts, channel);
    if (!channel.s3 || chosen.empty()) continue;
    if (ships_code(spec, channel)) channel.mode = InputMode::file;
    StagedChannel staged = base::while_doing("staging channel '" + channel.name + "'", [&] {
      return stage_channel(core, core.directory(record), channel, result.program, chosen, volumes,
                           progress, stop);
    });
    if (staged.obstacle)
      result.warnings.push_back("channel '" + channel.name +
                                "': InputMode FastFile is staged as File: " + *staged.obstacle);
    digests[channel.name] = std::move(staged.digest);
    for (std::size_t i = 0; i < chosen.size() && !staged.manifests.empty(); ++i)
      base::write_file(ml_directory(core.instance_directory(record, chosen[i].host)) /
                           "input/data" / (channel.name + "-manifest"),
                       staged.manifests[std::min(i, staged.manifests.size() - 1)]);
  }
  return digests;
}

// The archive that sagemaker_submit_directory names, on this machine; nothing when the program is
// already where it has to be.
std::optional<fs::path> fetch_code(Core& core, const JobRecord& record, const JobSpec& spec,
                                   const std::string& host) {
  auto where = spec.find_setting("sagemaker_submit_directory");
  if (!where) return std::nullopt;
  if (where->starts_with("s3://")) {
    fs::path file = core.attempt_directory(record) / "code.tar.gz";
    if (fs::exists(file)) return file;
    auto uri = s3::parse_uri(*where);
    if (!uri)
      throw base::Error(base::Code::invalid_argument,
                        "sagemaker_submit_directory '" + *where + "' is not an S3 URI");
    auto body = core.parts.objects.open(uri->bucket, uri->key);
    base::write_file(file, body->read_all(kMostCode));
    return file;
  }
  // A channel that ships code, as SDKs do under network isolation.
  constexpr std::string_view kData = "/opt/ml/input/data/";
  if (where->starts_with(kData)) {
    fs::path inside(where->substr(kData.size()));
    for (const Channel& channel : spec.channels)
      if (inside.begin() != inside.end() && *inside.begin() == channel.name)
        return channel_directory(core.directory(record), channel, host) /
               inside.lexically_relative(channel.name);
  }
  return std::nullopt;
}

// Returns the code's digest, "" when there is none.
std::string unpack_code(Core& core, const JobRecord& record, const JobSpec& spec) {
  std::string digest;
  for (const HostSlot& slot : spec.hosts()) {
    auto archive = fetch_code(core, record, spec, slot.host);
    if (!archive || !fs::is_regular_file(*archive)) continue;
    fs::path code = ml_directory(core.instance_directory(record, slot.host)) / "code";
    std::string bytes = base::read_file(*archive);
    if (digest.empty()) digest = base::sha256_hex(bytes);
    net::StringBody body(std::move(bytes));
    s3::extract_archive(body, code);
  }
  return digest;
}

void restore_checkpoints(Core& core, const JobRecord& record, const JobSpec& spec,
                         std::stop_token stop) {
  if (!spec.checkpoints) return;
  auto uri = s3::parse_uri(spec.checkpoints->uri);
  for (const HostSlot& slot : spec.hosts()) {
    auto local =
        core.instance_directory(record, slot.host) / synced_directory(*spec.checkpoints).below;
    s3::DirectorySync(core.parts.objects, local, uri->bucket, uri->key).download(stop);
  }
}

void remove_former_attempt(const Core& core, const JobRecord& record) {
  for (int attempt = 1; attempt < record.attempt; ++attempt)
    base::remove_tree(core.directory(record) / std::to_string(attempt));
}

// A file system's directory that is not there would only be seen as a mount that failed.
void check_file_systems(const Core& core, const JobSpec& spec) {
  for (const Channel& channel : spec.channels) {
    if (!channel.file_system) continue;
    fs::path directory = file_system_directory(core.settings, *channel.file_system);
    if (!fs::is_directory(directory))
      throw base::Error(base::Code::not_found, "channel '" + channel.name +
                                                   "': " + channel.file_system->id + " has no " +
                                                   "directory " + channel.file_system->directory);
  }
}

}  // namespace

Cause blame_of(const base::Error& error) {
  switch (error.code()) {
    case base::Code::invalid_argument:
    case base::Code::not_found:
    case base::Code::already_exists:
    case base::Code::failed_precondition:
    case base::Code::permission_denied:
    case base::Code::unauthenticated:
    case base::Code::resource_exhausted:
    case base::Code::unimplemented: return Cause::client;
    default: return Cause::lost;
  }
}

Staged stage_job(Core& core, const JobRecord& record, const s3::OnProgress& progress,
                 std::stop_token stop) {
  const JobSpec spec = read_spec(record.request);
  Staged staged;
  staged.program = choose_program(core, spec);
  check_file_systems(core, spec);
  remove_former_attempt(core, record);
  for (const HostSlot& slot : spec.hosts()) {
    fs::path instance = core.instance_directory(record, slot.host);
    make_instance_tree(instance, spec, slot);
    write_config_files(instance, config_files(spec, slot, record.request));
    write_config_files(instance, undocumented_config(record, spec, slot));
  }
  JsonObject inputs = stage_channels(core, record, spec, staged, progress, stop);
  std::string code;
  if (!staged.program.brings_code)
    code = base::while_doing("unpacking sagemaker_submit_directory",
                             [&] { return unpack_code(core, record, spec); });
  base::while_doing("restoring checkpoints",
                    [&] { restore_checkpoints(core, record, spec, stop); });
  staged.run_record = make_run_record(core, record, spec, staged.program, inputs, code);
  if (staged.program.brings_code && spec.find_setting("sagemaker_submit_directory"))
    staged.warnings.push_back(
        "the image has code in /opt/ml/code, which wins over sagemaker_submit_directory");
  return staged;
}

JsonObject program_json(const Program& program) {
  constexpr std::string_view kKinds[] = {"host", "oci", "xgboost"};
  return {{"kind", kKinds[static_cast<int>(program.kind)]},
          {"python", program.python},
          {"image", program.image},
          {"brings_code", program.brings_code},
          {"explanation", program.explanation}};
}

Program parse_program(const JsonObject& json) {
  const Json value(json);
  Program program;
  std::string kind = base::string_or(value, "kind", "host");
  program.kind = kind == "oci"       ? Program::Kind::oci
                 : kind == "xgboost" ? Program::Kind::xgboost
                                     : Program::Kind::host;
  program.python = base::string_or(value, "python");
  program.image = base::string_or(value, "image");
  program.brings_code = base::bool_or(value, "brings_code", false);
  program.explanation = base::string_or(value, "explanation");
  return program;
}

}  // namespace meridian::region::training
