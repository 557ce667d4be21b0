// SPDX-License-Identifier: Apache-2.0
#include "region/training/run_record.h"

#include <algorithm>
#include <set>

#include "base/strings.h"

namespace meridian::region::training {

using base::Json;
using base::JsonArray;
using base::JsonObject;

void InputDigest::add(const std::vector<s3::ChannelObject>& objects) {
  for (const auto& object : objects) {
    digest_.update(object.bucket + "\n" + object.info.key + "\n" + object.info.etag + "\n" +
                   std::to_string(object.info.size) + "\n");
    ++objects_;
    bytes_ += object.info.size;
  }
}

JsonObject InputDigest::finish() {
  return {{"Sha256", base::hex(digest_.finish())}, {"Objects", objects_}, {"Bytes", bytes_}};
}

std::vector<std::string> installed_packages(const std::vector<std::string>& directories) {
  std::set<std::string> names;
  for (const auto& directory : directories) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      auto path = entry.path().filename();
      if (path.extension() == ".dist-info" || path.extension() == ".egg-info")
        names.insert(path.stem());
    }
  }
  return {names.begin(), names.end()};
}

namespace {

JsonObject interpreter(const Core& core, const std::string& python) {
  std::vector<std::string> facts = core.settings.probe.search_path(python);
  if (facts.empty()) return {{"Path", python}};
  std::string version = facts.front();
  facts.erase(facts.begin());
  auto packages = installed_packages(facts);
  JsonArray names;
  for (const auto& package : packages) names.push_back(Json(package));
  return {{"Path", python},
          {"Version", version},
          {"Packages", names},
          {"PackagesSha256", base::sha256_hex(base::join(packages, "\n"))}};
}

JsonObject seeds(const JobSpec& spec) {
  JsonObject found;
  for (const auto& [key, value] : spec.hyperparameters)
    if (base::to_lower(key).find("seed") != std::string::npos) found[key] = value;
  for (const Channel& channel : spec.channels)
    if (channel.s3 && channel.s3->shuffle_seed)
      found["channel." + channel.name] = *channel.s3->shuffle_seed;
  return found;
}

}  // namespace

JsonObject make_run_record(const Core& core, const JobRecord& record, const JobSpec& spec,
                           const Program& program, JsonObject inputs,
                           const std::string& code_sha256) {
  JsonObject environment;
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  JsonObject made{
      {"Version", 1},
      {"JobArn", record.arn},
      {"Attempt", record.attempt},
      {"At", core.parts.clock.now().seconds()},
      {"Image", spec.image},
      {"Program", program.explanation},
      {"Inputs", std::move(inputs)},
      {"CodeSha256", code_sha256},
      {"Seeds", seeds(spec)},
      {"Environment", environment},
      {"RequestSha256", base::sha256_hex(base::to_text(record.request, base::JsonStyle::sorted))}};
  if (program.kind == Program::Kind::host && spec.has_script())
    made["Interpreter"] = interpreter(core, program.python);
  return made;
}

}  // namespace meridian::region::training
