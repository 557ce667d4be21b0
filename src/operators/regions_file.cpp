// SPDX-License-Identifier: Apache-2.0
#include "operators/regions_file.h"

#include <fmt/format.h>

#include "aws/credential_chain.h"
#include "base/file.h"
#include "base/log.h"
#include "base/sync.h"
#include "base/yaml.h"

namespace meridian::operators {
namespace {

namespace fs = std::filesystem;
using base::Json;

// Changes when the file does; a mounted Secret is a link to another file then.
std::string stamp_of(const fs::path& file) {
  std::error_code missing;
  const auto time = fs::last_write_time(file, missing);
  if (missing) return "none";
  return fmt::format("{} {}", time.time_since_epoch().count(), fs::file_size(file, missing));
}

// Keys from a file that may be written anew at any time.
class KeyFile {
 public:
  explicit KeyFile(fs::path file) : file_(std::move(file)) { current(); }

  aws::Credentials current() {
    auto held = held_.lock();
    const std::string stamp = stamp_of(file_);
    if (stamp != held->stamp) {
      const auto keys = aws::parse_credentials(base::read_file(file_));
      if (!keys) {
        throw base::Error(base::Code::invalid_argument,
                          fmt::format("{}: {}", file_.string(), keys.error().text()));
      }
      *held = {stamp, *keys};
    }
    return held->keys;
  }

 private:
  struct Held {
    std::string stamp;
    aws::Credentials keys;
  };
  const fs::path file_;
  base::Sync<Held> held_;
};

[[noreturn]] void refuse(const fs::path& file, const base::YamlDocument& document,
                         const std::string& path, std::string_view what) {
  throw base::Error(
      base::Code::invalid_argument,
      fmt::format("{}:{}: {}: {}", file.string(), document.position_of(path).line, path, what));
}

RegionSettings parse_region(const fs::path& file, const base::YamlDocument& document,
                            const std::string& path, const Json& entry) {
  if (!entry.is_object()) refuse(file, document, path, "expected endpoint, credentials or ca");
  RegionSettings settings;
  for (const auto& [key, value] : entry.get_object()) {
    const std::string field = path + "." + std::string(key);
    if (!value.is_string()) refuse(file, document, field, "expected text");
    const std::string text(base::view(value.get_string()));
    if (key == "endpoint") {
      if (!text.starts_with("http://") && !text.starts_with("https://"))
        refuse(file, document, field, "expected http://… or https://…");
      settings.endpoint = text;
    } else if (key == "credentials") {
      try {
        settings.credentials = [keys = std::make_shared<KeyFile>(text)] { return keys->current(); };
      } catch (const base::Error& error) {
        refuse(file, document, field, error.message());
      }
    } else if (key == "ca") {
      settings.ca_file = text;
    } else {
      refuse(file, document, field, "unknown; there are endpoint, credentials and ca");
    }
  }
  return settings;
}

}  // namespace

base::Duration RegionSettings::listing_interval() const {
  const bool aws = endpoint.empty() || endpoint.find(".amazonaws.com") != std::string::npos;
  return base::Duration(aws ? 5'000 : 1'000);
}

Regions load_regions_file(const fs::path& file) {
  Regions regions;
  // The deployment mounts the file from a Secret that need not exist.
  if (file.empty() || !fs::exists(file)) return regions;
  const auto parsed = base::parse_yaml(base::read_file(file));
  if (!parsed)
    throw base::Error(base::Code::invalid_argument, file.string() + ": " + parsed.error().text());
  for (const base::YamlDocument& document : *parsed) {
    const Json* entries = base::find(document.value, "regions");
    if (entries == nullptr || !entries->is_object())
      refuse(file, document, "regions", "expected regions by name");
    for (const auto& [name, entry] : entries->get_object()) {
      regions[name] = parse_region(file, document, "regions." + std::string(name), entry);
    }
  }
  return regions;
}

std::optional<Regions> RegionsFile::changed() {
  if (file_.empty()) return std::nullopt;
  std::string stamp = stamp_of(file_);
  if (stamp == stamp_) return std::nullopt;
  stamp_ = std::move(stamp);
  try {
    return load_regions_file(file_);
  } catch (const base::Error& error) {
    base::log_error("the regions file cannot be used", {{"why", error.message()}});
    return std::nullopt;
  }
}

}  // namespace meridian::operators
