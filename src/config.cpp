// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "fleet/database.h"

namespace meridian {
namespace {
using base::Json;

// One mapping of the file: reads members by name, refuses what it does not know.
class Section {
 public:
  Section(const base::YamlDocument& document, std::string_view file, const Json& value,
          std::string path)
      : document_(document), file_(file), path_(std::move(path)), value_(value) {
    if (!value.is_object()) fail(path_, "must be a mapping");
  }

  [[noreturn]] void fail(const std::string& path, const std::string& why) const {
    const base::Position at = document_.position_of(path);
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("{}:{}:{}: {} {}", file_, at.line, at.column,
                                  path.empty() ? "the file" : path, why));
  }

  std::string member_path(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  const Json* member(std::string_view key) {
    known_.emplace_back(key);
    return base::find(value_, key);
  }

  void text(std::string_view key, std::string& out) {
    const Json* v = member(key);
    if (v == nullptr) return;
    if (!v->is_string()) fail(member_path(key), "must be text");
    out = base::view(v->get_string());
  }

  void count(std::string_view key, int& out, int least) {
    const Json* v = member(key);
    if (v == nullptr) return;
    if (!v->is_int64() || v->get_int64() < least || v->get_int64() > 1'000'000) {
      fail(member_path(key), fmt::format("must be a whole number from {} to 1000000", least));
    }
    out = static_cast<int>(v->get_int64());
  }

  std::optional<double> number(std::string_view key) {
    const Json* v = member(key);
    if (v == nullptr) return std::nullopt;
    if (!v->is_number() || v->to_number<double>() < 0) {
      fail(member_path(key), "must be a number, zero or more");
    }
    return v->to_number<double>();
  }

  void flag(std::string_view key, bool& out) {
    const Json* v = member(key);
    if (v == nullptr) return;
    if (!v->is_bool()) fail(member_path(key), "must be true or false");
    out = v->get_bool();
  }

  void texts(std::string_view key, std::vector<std::string>& out) {
    const Json* v = member(key);
    if (v == nullptr) return;
    out.clear();
    if (!v->is_array()) fail(member_path(key), "must be a list of texts");
    for (const Json& item : v->get_array()) {
      if (!item.is_string()) fail(member_path(key), "must be a list of texts");
      out.emplace_back(base::view(item.get_string()));
    }
  }

  void each(std::string_view key, const std::function<void(Section&)>& read) {
    const Json* v = member(key);
    if (v == nullptr) return;
    if (!v->is_array()) fail(member_path(key), "must be a list");
    std::size_t index = 0;
    for (const Json& item : v->get_array()) {
      Section section(document_, file_, item, fmt::format("{}[{}]", member_path(key), index++));
      read(section);
      section.refuse_unknown();
    }
  }

  void section(std::string_view key, const std::function<void(Section&)>& read) {
    const Json* v = member(key);
    if (v == nullptr) return;
    Section inner(document_, file_, *v, member_path(key));
    read(inner);
    inner.refuse_unknown();
  }

  // After all members were asked for.
  void refuse_unknown() const {
    for (const auto& m : value_.get_object()) {
      const std::string key(m.key());
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      const auto suggestion = base::nearest(key, known_);
      fail(member_path(key),
           fmt::format("is not a known field{}; known here: {}",
                       suggestion ? fmt::format(" (did you mean '{}'?)", *suggestion) : "",
                       base::join(known_, ", ")));
    }
  }

  const base::JsonObject& object() const { return value_.get_object(); }

 private:
  const base::YamlDocument& document_;
  std::string_view file_;
  std::string path_;
  const Json& value_;
  std::vector<std::string> known_;
};

using region::training::SpotPolicy;

void read_trace(Section& s, const std::filesystem::path& directory, SpotPolicy& policy) {
  std::string file;
  s.text("trace", file);
  if (file.empty()) return;
  try {
    auto trace = region::training::parse_spot_trace(base::read_file(directory / file));
    if (!trace) s.fail(s.member_path("trace"), file + ": " + trace.error().text());
    policy.trace = std::move(*trace);
  } catch (const base::Error& error) {
    if (error.code() != base::Code::not_found) throw;
    s.fail(s.member_path("trace"),
           "names a file that is not there: " + (directory / file).string());
  }
}

SpotPolicy read_spot(Section& s, const std::filesystem::path& directory) {
  SpotPolicy policy;
  policy.reclaims_per_hour = s.number("reclaims_per_hour").value_or(0);
  std::vector<std::string> times;
  s.texts("reclaim_after", times);
  for (const std::string& time : times) {
    const auto duration = parse_duration(time);
    if (!duration) s.fail(s.member_path("reclaim_after"), "must hold times like 90s, 10m or 2h");
    policy.reclaim_after.push_back(*duration);
  }
  int at_most = -1;
  s.count("at_most", at_most, 0);
  if (at_most >= 0) policy.at_most = at_most;
  read_trace(s, directory, policy);
  return policy;
}

region::capacity::Pool read_pool(Section& s) {
  region::capacity::Pool pool;
  pool.name = "default";
  s.text("name", pool.name);
  s.texts("types", pool.types);
  s.count("count", pool.count, 0);
  pool.cpus = s.number("cpus").value_or(0);
  s.count("gpus", pool.gpus, 0);
  pool.price_per_hour = s.number("price_per_hour");
  if (const Json* memory = s.member("memory"); memory != nullptr) {
    const std::string text = memory->is_string() ? std::string(base::view(memory->get_string()))
                                                 : base::to_text(*memory);
    const auto bytes = parse_byte_size(text);
    if (!bytes) s.fail(s.member_path("memory"), "must be a size like 8GiB or 512MiB");
    pool.memory_bytes = *bytes;
  }
  return pool;
}

ImageMapping read_image(Section& s) {
  ImageMapping mapping;
  s.text("match", mapping.match);
  s.text("run", mapping.run);
  if (mapping.match.empty())
    s.fail(s.member_path("match"), "is missing: a pattern like '*/NAME:*'");
  if (mapping.run.empty()) {
    s.fail(s.member_path("run"), "is missing: host, host:PYTHON or an image reference");
  }
  return mapping;
}

void read_file_systems(Section& s, Config& config) {
  for (const auto& m : s.object()) {
    std::string directory;
    s.text(m.key(), directory);
    if (directory.empty() || directory.front() != '/') {
      s.fail(s.member_path(m.key()), "must be an absolute directory");
    }
    config.file_systems[std::string(m.key())] = directory;
  }
}

void read_catalog(Section& s, Config& config, const std::filesystem::path& directory) {
  std::string url;
  s.text("campaigns", url);
  if (url.empty()) return;
  try {
    config.campaigns = directory / fleet::database_file(url);
  } catch (const base::Error& error) {
    s.fail("campaigns", error.message());
  }
}

void read_sandbox(Section& s, Config& config) {
  s.text("user", config.sandbox_user);
  std::string network = "gang";
  s.text("network", network);
  if (network != "gang" && network != "host") {
    s.fail(s.member_path("network"), "must be gang or host");
  }
  config.host_network = network == "host";
}

void check_account(Section& s, const Config& config) {
  const bool digits = config.account.find_first_not_of("0123456789") == std::string::npos;
  if (config.account.size() != 12 || !digits) s.fail("account", "must be 12 digits, in quotes");
}

}  // namespace

std::optional<std::uint64_t> parse_byte_size(std::string_view text) {
  std::uint64_t unit = 1;
  for (const auto& [suffix, factor] :
       {std::pair<std::string_view, int>{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}) {
    if (text.ends_with(suffix)) {
      unit = 1ull << factor;
      text.remove_suffix(suffix.size());
    }
  }
  const auto number = base::to_uint(base::trim(text));
  if (!number || *number > UINT64_MAX / unit) return std::nullopt;
  return *number * unit;
}

std::optional<base::Duration> parse_duration(std::string_view text) {
  std::int64_t unit = 0;
  for (const auto& [suffix, ms] : {std::pair<char, std::int64_t>{'s', 1000},
                                   {'m', 60'000},
                                   {'h', 3'600'000},
                                   {'d', 86'400'000}})
    if (text.ends_with(suffix)) unit = ms;
  if (unit == 0) return std::nullopt;
  const auto number = base::to_uint(text.substr(0, text.size() - 1));
  if (!number || *number > 100'000'000) return std::nullopt;
  return base::Duration(static_cast<std::int64_t>(*number) * unit);
}

Config parse_config(std::string_view yaml, std::string_view name,
                    const std::filesystem::path& directory) {
  Config config;
  const auto parsed = base::parse_yaml(yaml);
  if (!parsed) {
    const auto& e = parsed.error();
    throw base::Error(base::Code::invalid_argument,
                      fmt::format("{}:{}:{}: {}", name, e.line, e.column, e.message));
  }
  if (parsed->empty() || parsed->front().value.is_null()) return config;
  const base::YamlDocument& document = parsed->front();
  Section root(document, name, document.value, "");
  root.text("account", config.account);
  check_account(root, config);
  root.texts("regions", config.regions);
  if (config.regions.empty()) root.fail("regions", "must name at least one region");
  if (document.value.get_object().contains("pools")) config.pools.clear();
  root.each("pools", [&](Section& s) {
    config.pools.push_back(read_pool(s));
    s.section("spot", [&](Section& spot) {
      config.spot[config.pools.back().name] = read_spot(spot, directory);
    });
  });
  root.each("images", [&](Section& s) { config.images.push_back(read_image(s)); });
  root.section("file_systems", [&](Section& s) { read_file_systems(s, config); });
  root.section("catalog", [&](Section& s) { read_catalog(s, config, directory); });
  root.section("s3", [&](Section& s) { s.flag("sync", config.s3_sync); });
  root.section("sandbox", [&](Section& s) { read_sandbox(s, config); });
  root.refuse_unknown();
  return config;
}

Config load_config(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  return parse_config(base::read_file(file), file.string(), file.parent_path());
}

}  // namespace meridian
