// SPDX-License-Identifier: Apache-2.0
#include "cli/installation.h"

#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/json.h"
#include "base/strings.h"

namespace meridian::cli {
namespace {

std::vector<std::string> strings_of(const base::Json* array) {
  std::vector<std::string> all;
  if (array != nullptr && array->is_array())
    for (const auto& item : array->as_array())
      if (item.is_string()) all.emplace_back(base::view(item.as_string()));
  return all;
}

std::optional<Installation> from_environment(const std::filesystem::path& data,
                                             const Environment& environment) {
  Installation found{.data = data, .endpoint = environment("AWS_ENDPOINT_URL")};
  found.credentials = {environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                       environment("AWS_SESSION_TOKEN")};
  if (found.endpoint.empty() || found.credentials.access_key_id.empty()) return {};
  while (found.endpoint.ends_with('/')) found.endpoint.pop_back();
  return found;
}

Installation from_run_file(const std::filesystem::path& data, const RunFile& run) {
  Installation found{.data = data};
  found.endpoint = endpoint_of(run);
  found.regions = run.regions;
  found.account = run.account;
  const auto file = data / "credentials";
  auto keys = parse_credentials(base::read_file(file));
  if (!keys) throw base::Error(base::Code::data_loss, file.string() + ": " + keys.error().text());
  found.credentials = *keys;
  return found;
}

std::string environment_region(const Environment& environment) {
  const auto region = environment("AWS_REGION");
  return region.empty() ? environment("AWS_DEFAULT_REGION") : region;
}

void choose_region(Installation& found, const std::string& option, const Environment& environment) {
  const auto has = [&](const std::string& region) {
    return found.regions.empty() ||
           std::find(found.regions.begin(), found.regions.end(), region) != found.regions.end();
  };
  if (!option.empty()) {
    if (!has(option)) {
      const auto near = base::nearest(option, found.regions);
      throw base::Error(base::Code::invalid_argument,
                        "this installation has no region '" + option + "'; it has " +
                            base::join(found.regions, ", ") +
                            (near ? "; did you mean '" + *near + "'?" : ""));
    }
    found.region = option;
    return;
  }
  const auto wished = environment_region(environment);
  if (!wished.empty() && has(wished))
    found.region = wished;
  else
    found.region = found.regions.empty() ? "us-west-2" : found.regions.front();
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value != nullptr ? value : "");
  };
}

std::filesystem::path data_directory(const std::string& option, const Environment& environment) {
  std::filesystem::path chosen = option.empty() ? environment("MERIDIAN_DATA") : option;
  if (chosen.empty()) {
    const auto home = environment("HOME");
    if (home.empty())
      throw base::Error(base::Code::invalid_argument,
                        "no data directory: HOME is not set; give --data or MERIDIAN_DATA");
    chosen = std::filesystem::path(home) / ".meridian";
  }
  return std::filesystem::absolute(chosen).lexically_normal();
}

base::Result<RunFile> parse_run_file(std::string_view json) {
  auto value = base::parse_json(json);
  if (!value) return value.error();
  RunFile run;
  run.pid = static_cast<int>(base::int_or(*value, "pid", 0));
  const auto port = [&](const base::Json& object, std::string_view member) {
    return static_cast<std::uint16_t>(base::int_or(object, member, 0));
  };
  if (const auto* ports = base::find(*value, "ports"); ports != nullptr && ports->is_object())
    for (const auto& [name, number] : ports->as_object())
      run.ports[std::string(name)] = port(*ports, name);
  if (run.ports["aws"] == 0) run.ports["aws"] = port(*value, "port");
  if (run.ports["aws"] == 0) return base::ParseError{"no port in it"};
  run.regions = strings_of(base::find(*value, "regions"));
  run.account = base::string_or(*value, "account");
  if (const auto listen = base::string_or(*value, "listen"); !listen.empty()) run.listen = listen;
  run.secure = base::bool_or(*value, "secure", false);
  return run;
}

std::string endpoint_of(const RunFile& run) {
  if (const auto programs = run.ports.find("programs"); programs != run.ports.end())
    return "http://127.0.0.1:" + std::to_string(programs->second);
  auto host = run.listen;
  if (host == "0.0.0.0" || host == "::") host = "127.0.0.1";  // every address, so this one too
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (run.secure ? "https://" : "http://") + host + ":" + std::to_string(run.ports.at("aws"));
}

std::optional<RunFile> find_run_file(const std::filesystem::path& data) {
  const auto text = base::read_file_if_exists(data / "run.json");
  if (text.empty()) return {};
  auto run = parse_run_file(text);
  if (!run)
    throw base::Error(base::Code::data_loss,
                      (data / "run.json").string() + ": " + run.error().text());
  return *run;
}

bool is_running(const RunFile& run) {
  if (run.pid <= 0 || (kill(run.pid, 0) != 0 && errno == ESRCH)) return false;
  const auto name = base::read_file_if_exists("/proc/" + std::to_string(run.pid) + "/comm");
  return base::trim(name).starts_with("meridian");
}

Installation find_installation(const std::filesystem::path& data, const std::string& region_option,
                               const Environment& environment) {
  const auto run = find_run_file(data);
  std::optional<Installation> found;
  if (run && is_running(*run))
    found = from_run_file(data, *run);
  else
    found = from_environment(data, environment);
  if (!found)
    throw base::Error(base::Code::unavailable,
                      "no Meridian runs on " + data.string() +
                          ".\nStart one with 'meridian up --detach', or name another directory "
                          "with --data or MERIDIAN_DATA.");
  choose_region(*found, region_option, environment);
  return *found;
}

}  // namespace meridian::cli
