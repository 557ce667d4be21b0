// SPDX-License-Identifier: Apache-2.0
#include "region/training/outputs.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "region/training/layout.h"

namespace meridian::region::training {
namespace {

namespace fs = std::filesystem;

// One directory of every host that still has it, and that is no link.
struct OnEveryHost {
  OnEveryHost(const Core& core, const JobRecord& record, const JobSpec& spec, const char* below) {
    for (const HostSlot& slot : spec.hosts())
      if (auto found = pin_directory(core.instance_directory(record, slot.host), below)) {
        pinned.push_back(std::move(*found));
        paths.push_back(pinned.back().path());
      }
  }
  bool has_content() const {
    return std::any_of(paths.begin(), paths.end(), [](const fs::path& path) {
      std::error_code error;
      return fs::directory_iterator(path, error) != fs::directory_iterator();
    });
  }
  std::list<PinnedDirectory> pinned;
  std::vector<fs::path> paths;
};

bool keeps_model(Cause cause) {
  switch (cause) {
    case Cause::completed:
    case Cause::user_stop:
    case Cause::max_runtime:
    case Cause::max_wait: return true;
    default: return false;
  }
}

bool keeps_output(Cause cause) { return keeps_model(cause) || cause == Cause::failed; }

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  for (auto& each : more) to.push_back(std::move(each));
}

// One artifact: an archive, or its files as they are with CompressionType NONE. Returns its URI.
std::string put_artifact(Core& core, const JobRecord& record, const JobSpec& spec,
                         const std::vector<fs::path>& directories, const std::string& name,
                         Uploaded& uploaded, std::stop_token stop) {
  auto prefix = s3::parse_uri(spec.output_prefix());
  if (!prefix)
    throw base::Error(base::Code::invalid_argument,
                      "'" + spec.output_prefix() + "' is not an S3 URI");
  if (spec.compress_output) {
    std::string key = prefix->key + "/" + name + ".tar.gz";
    fs::path scratch = core.attempt_directory(record) / "upload";
    base::make_directories(scratch);
    append(uploaded.left_out,
           s3::upload_archive(core.parts.objects, directories, prefix->bucket, key, scratch, stop)
               .left_out);
    return s3::Uri{prefix->bucket, key}.text();
  }
  std::string key = prefix->key + "/" + name + "/";
  for (const fs::path& directory : directories)
    append(uploaded.left_out,
           s3::upload_tree(core.parts.objects, directory, prefix->bucket, key, stop).left_out);
  return s3::Uri{prefix->bucket, key}.text();
}

}  // namespace

OutputSync::OutputSync(Core& core, const JobRecord& record, const JobSpec& spec)
    : objects_(core.parts.objects) {
  std::vector<SyncedDirectory> all = spec.outputs;
  if (spec.checkpoints) all.push_back(*spec.checkpoints);
  for (const SyncedDirectory& each : all) {
    auto uri = s3::parse_uri(each.uri);
    if (!uri) continue;  // refused at Create
    for (const HostSlot& slot : spec.hosts())
      entries_.push_back({core.instance_directory(record, slot.host), synced_directory(each).below,
                          *uri, std::nullopt, std::nullopt});
  }
}

s3::DirectorySync::Result OutputSync::upload(std::stop_token stop) {
  std::lock_guard lock(mutex_);
  s3::DirectorySync::Result sum;
  for (Entry& entry : entries_) {
    auto found = pin_directory(entry.instance, entry.below);
    if (!found) continue;
    if (entry.pinned) {
      entry.pinned->become(*found);
    } else {
      entry.pinned = std::move(found);
      entry.sync.emplace(objects_, entry.pinned->path(), entry.target.bucket, entry.target.key);
    }
    auto each = entry.sync->upload_changes(stop);
    sum.uploaded += each.uploaded;
    sum.removed += each.removed;
    sum.pending += each.pending;
  }
  return sum;
}

Uploaded upload_outputs(Core& core, const JobRecord& record, const JobSpec& spec, OutputSync& sync,
                        std::stop_token stop) {
  Uploaded uploaded;
  for (const std::string& stream : record.streams)
    core.parts.telemetry.finish(std::string(kLogGroup), stream);
  base::while_doing("syncing checkpoints and outputs", [&] { sync.upload(stop); });
  if (keeps_model(record.cause)) {
    OnEveryHost models(core, record, spec, "ml/model");
    // A completed job always has an archive; a stopped one only when there is something in it.
    if (record.cause == Cause::completed || models.has_content())
      base::while_doing("uploading the model", [&] {
        uploaded.model_uri =
            put_artifact(core, record, spec, models.paths, "model", uploaded, stop);
      });
  }
  OnEveryHost outputs(core, record, spec, "ml/output/data");
  if (keeps_output(record.cause) && outputs.has_content())
    base::while_doing("uploading output data", [&] {
      put_artifact(core, record, spec, outputs.paths, "output", uploaded, stop);
    });
  return uploaded;
}

}  // namespace meridian::region::training
