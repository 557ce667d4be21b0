// Which objects a channel has, in which order, and who gets them.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/strings.h"
#include "s3/manifest.h"
#include "s3/shuffle.h"
#include "s3/staging.h"
#include "s3/tree.h"

namespace meridian::s3 {
namespace {

constexpr std::size_t largest_manifest = 256u << 20;

Uri require_uri(const std::string& text) {
  auto uri = parse_uri(text);
  if (!uri) throw base::Error(base::Code::invalid_argument, uri.error().message);
  return std::move(*uri);
}

base::Error no_objects(const std::string& uri) {
  return {base::Code::not_found,
          "No S3 objects found under S3 URL \"" + uri +
              "\" given in input data source. Please ensure that the bucket exists, that objects "
              "exist under that S3 prefix, and that the role may list the bucket."};
}

// The path inside the channel: below the folder that the prefix names ("data/train" and
// "data/train/" both name one), else below the last '/' of the prefix ("data/tr", or an object).
std::string below_prefix(const std::string& key, const std::string& prefix) {
  const bool folder = !prefix.empty() && prefix.back() != '/';
  if (folder && key.size() > prefix.size() && key[prefix.size()] == '/') {
    return safe_relative_path(key.substr(prefix.size() + 1));
  }
  const auto slash = prefix.rfind('/');
  return safe_relative_path(slash == std::string::npos ? key : key.substr(slash + 1));
}

// An object that lies where a folder has to be makes no file (it is still streamed by Pipe).
void drop_hidden_paths(std::vector<ChannelObject>& channel) {
  std::set<std::string> folders;
  for (const auto& object : channel) {
    for (auto slash = object.relative_path.find('/'); slash != std::string::npos;
         slash = object.relative_path.find('/', slash + 1))
      folders.insert(object.relative_path.substr(0, slash));
  }
  for (auto& object : channel) {
    if (folders.contains(object.relative_path)) object.relative_path.clear();
  }
}

std::vector<ChannelObject> list_prefix(Objects& objects, const ChannelSource& source) {
  const auto uri = require_uri(source.uri);
  std::vector<ChannelObject> channel;
  for_each_object(objects, uri.bucket, uri.key, [&](const ObjectInfo& info) {
    if (info.key.ends_with('/')) return;  // a folder marker
    channel.push_back({uri.bucket, info, below_prefix(info.key, uri.key)});
  });
  return channel;
}

std::vector<ChannelObject> list_manifest(Objects& objects, const ChannelSource& source) {
  const auto uri = require_uri(source.uri);
  if (!objects.find(uri.bucket, uri.key)) throw no_objects(source.uri);
  const auto parsed = parse_manifest(objects.open(uri.bucket, uri.key)->read_all(largest_manifest));
  if (!parsed)
    throw base::Error(base::Code::invalid_argument,
                      "manifest " + source.uri + ": " + parsed.error().text());
  std::vector<ChannelObject> channel;
  for (const auto& relative : parsed->keys) {
    const auto key = parsed->prefix.key + relative;
    auto info = objects.find(parsed->prefix.bucket, key);
    if (!info)
      throw base::Error(base::Code::invalid_argument, "manifest " + source.uri + " names " +
                                                          Uri{parsed->prefix.bucket, key}.text() +
                                                          ", which does not exist");
    if (key.ends_with('/')) continue;
    channel.push_back(
        {parsed->prefix.bucket, std::move(*info), below_prefix(key, parsed->prefix.key)});
  }
  return channel;
}

std::vector<ChannelObject> list_augmented(Objects& objects, const ChannelSource& source) {
  const auto uri = require_uri(source.uri);
  auto info = objects.find(uri.bucket, uri.key);
  if (!info) throw no_objects(source.uri);
  return {{uri.bucket, std::move(*info), below_prefix(uri.key, uri.key)}};
}

}  // namespace

std::vector<ChannelObject> list_channel(Objects& objects, const ChannelSource& source,
                                        std::size_t index, std::size_t count, int epoch) {
  // The manifest's records are shuffled and shared out, not the one file that holds them.
  if (source.type == DataType::augmented_manifest) return list_augmented(objects, source);
  auto channel = source.type == DataType::prefix ? list_prefix(objects, source)
                                                 : list_manifest(objects, source);
  if (channel.empty()) throw no_objects(source.uri);
  drop_hidden_paths(channel);
  if (source.shuffle_seed) shuffle(channel, *source.shuffle_seed, epoch);
  if (source.distribution == Distribution::sharded && count > 1)
    channel = shard(std::move(channel), index, count);
  return channel;
}

}  // namespace meridian::s3
