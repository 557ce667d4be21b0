// SPDX-License-Identifier: Apache-2.0
#include "region/training/fast_file.h"

#include "base/file.h"
#include "region/training/layout.h"
#include "run/file_tree.h"

namespace meridian::region::training {
namespace {

namespace fs = std::filesystem;

// False when some object does not lie on this machine.
bool write_index(s3::Objects& objects, const std::vector<s3::ChannelObject>& channel,
                 const fs::path& index) {
  std::vector<run::IndexedFile> files;
  files.reserve(channel.size());
  for (const auto& [bucket, info, path] : channel) {
    if (path.empty()) continue;  // hidden by a folder
    const auto pieces = objects.find_pieces(bucket, info.key);
    if (!pieces) return false;
    run::IndexedFile file{.path = path, .modified = info.last_modified};
    for (const auto& piece : *pieces)
      file.stretches.push_back({piece.file, piece.size, piece.offset});
    files.push_back(std::move(file));
  }
  base::make_directories(index.parent_path());
  run::write_file_index(index, files);
  return true;
}

bool is_folder(std::string_view key) { return key.empty() || key.ends_with('/'); }

}  // namespace

fs::path index_file(const fs::path& job, const Channel& channel, const std::string& host) {
  fs::path directory = channel_directory(job, channel, host);
  return directory.parent_path() / (directory.filename().string() + ".index");
}

s3::ChannelSource require_folder(s3::Objects& objects, s3::ChannelSource source) {
  const auto uri = s3::parse_uri(source.uri);
  if (!uri || is_folder(uri->key) || objects.find(uri->bucket, uri->key)) return source;
  if (!objects.list(uri->bucket, uri->key + "/", "", 1).objects.empty()) {
    source.uri += "/";
    return source;
  }
  const auto begins = objects.list(uri->bucket, uri->key, "", 1).objects;
  if (begins.empty()) return source;  // whoever lists it says that there is nothing
  throw base::Error(base::Code::invalid_argument,
                    "InputMode FastFile needs a folder or one object: '" + source.uri +
                        "' is neither, only the beginning of keys such as '" + begins.front().key +
                        "'; let S3Uri end at a '/', or use InputMode File");
}

void keep_named_object(std::vector<s3::ChannelObject>& channel, const s3::ChannelSource& source) {
  const auto uri = s3::parse_uri(source.uri);
  if (!uri || is_folder(uri->key)) return;
  std::erase_if(channel, [&](const auto& object) { return object.info.key != uri->key; });
}

std::optional<std::string> show_on_demand(Core& core, const Program& program,
                                          const std::vector<s3::ChannelObject>& channel,
                                          const fs::path& index) {
  using Runtime = run::Engine::Runtime;
  auto obstacle = core.parts.engine.find_obstacle_to_files(
      program.kind == Program::Kind::oci ? Runtime::image : Runtime::host);
  if (!obstacle && !write_index(core.parts.objects, channel, index))
    obstacle = "its objects do not lie on this machine";
  if (obstacle) fs::remove(index);  // of an earlier attempt
  return obstacle;
}

}  // namespace meridian::region::training
