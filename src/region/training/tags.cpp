// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "aws/service.h"
#include "region/training/operations.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::size_t kMostTags = 50;

// The job that ResourceArn names.
std::string job_of(Core& core, const JsonObject& input) {
  std::string arn = base::string_or(input, "ResourceArn");
  std::string stem = core.arn("");
  if (arn.starts_with(stem) && core.records.find(arn.substr(stem.size())))
    return arn.substr(stem.size());
  throw aws::ApiError("ValidationException", "Requested resource not found: " + arn);
}

void put_tag(JsonArray& tags, const Json& tag) {
  for (Json& each : tags)
    if (base::string_or(each, "Key") == base::string_or(tag, "Key")) {
      each = tag;
      return;
    }
  tags.push_back(tag);
}

}  // namespace

Json add_tags(Core& core, const JsonObject& input) {
  auto record = core.records.update(job_of(core, input), [&](JobRecord& job) {
    for (const Json& tag : input.at("Tags").as_array()) put_tag(job.tags, tag);
    if (job.tags.size() > kMostTags)
      throw aws::ApiError("ResourceLimitExceeded", "A resource has at most 50 tags; this makes " +
                                                       std::to_string(job.tags.size()));
    return true;
  });
  return JsonObject{{"Tags", record ? record->tags : JsonArray{}}};
}

Json list_tags(Core& core, const JsonObject& input) {
  auto record = core.records.find(job_of(core, input));
  return JsonObject{{"Tags", record ? record->tags : JsonArray{}}};
}

Json delete_tags(Core& core, const JsonObject& input) {
  std::set<std::string> gone;
  for (const Json& key : input.at("TagKeys").as_array()) gone.emplace(base::view(key.as_string()));
  core.records.update(job_of(core, input), [&](JobRecord& job) {
    JsonArray kept;
    for (const Json& tag : job.tags)
      if (!gone.contains(base::string_or(tag, "Key"))) kept.push_back(tag);
    job.tags = kept;
    return true;
  });
  return JsonObject{};
}

}  // namespace meridian::region::training
