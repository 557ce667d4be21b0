// SPDX-License-Identifier: Apache-2.0
#include "run/instance.h"

#include "base/json.h"

namespace meridian::run {
using base::Json;
using base::JsonArray;
using base::JsonObject;
namespace {

constexpr std::string_view kModes[] = {"read_only", "read_write", "overlay", "on_demand"};
constexpr std::string_view kNetworks[] = {"gang", "isolated", "host"};

template <std::size_t N>
std::optional<int> find_name(const std::string_view (&names)[N], std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

// Thrown and caught in this file only: where in the document something is wrong.
struct Bad {
  std::string message;
};

std::string text_of(const Json& value, std::string_view field) {
  if (!value.is_string()) throw Bad{std::string(field) + " must be a string"};
  return std::string(base::view(value.as_string()));
}

std::string required(const JsonObject& object, std::string_view field) {
  const Json* value = base::find(object, field);
  if (value == nullptr) throw Bad{std::string(field) + " is missing"};
  std::string text = text_of(*value, field);
  if (text.empty()) throw Bad{std::string(field) + " is empty"};
  return text;
}

const JsonArray& array_or_empty(const JsonObject& object, std::string_view field) {
  static const JsonArray empty;
  const Json* value = base::find(object, field);
  if (value == nullptr) return empty;
  if (!value->is_array()) throw Bad{std::string(field) + " must be a list"};
  return value->as_array();
}

const JsonObject& object_of(const Json& value, std::string_view field) {
  if (!value.is_object()) throw Bad{std::string(field) + " must hold objects"};
  return value.as_object();
}

std::filesystem::path absolute(const std::string& text, std::string_view field) {
  std::filesystem::path path(text);
  if (!path.is_absolute()) {
    throw Bad{std::string(field) + " must be an absolute path, not '" + text + "'"};
  }
  return path;
}

std::uint64_t unsigned_or_zero(const Json& object, std::string_view field) {
  const std::int64_t value = base::int_or(object, field, 0);
  if (value < 0) throw Bad{std::string(field) + " must not be negative"};
  return static_cast<std::uint64_t>(value);
}

std::vector<std::string> texts(const JsonObject& object, std::string_view field) {
  std::vector<std::string> out;
  for (const Json& value : array_or_empty(object, field)) out.push_back(text_of(value, field));
  return out;
}

Mount parse_mount(const Json& value) {
  const JsonObject& object = object_of(value, "mounts");
  Mount mount;
  mount.host = absolute(required(object, "host"), "mounts.host");
  mount.inside = absolute(required(object, "inside"), "mounts.inside");
  const auto mode = find_name(kModes, required(object, "mode"));
  if (!mode) throw Bad{"mounts.mode must be read_only, read_write, overlay or on_demand"};
  mount.mode = static_cast<Mount::Mode>(*mode);
  return mount;
}

void read_lists(const JsonObject& o, InstanceSpec& spec) {
  spec.argv = texts(o, "argv");
  spec.entrypoint = texts(o, "entrypoint");
  for (const Json& value : array_or_empty(o, "hosts")) {
    const JsonObject& host = object_of(value, "hosts");
    spec.hosts.push_back({required(host, "name"), required(host, "address")});
  }
  for (const Json& value : array_or_empty(o, "mounts")) spec.mounts.push_back(parse_mount(value));
  for (const std::string& path : texts(o, "hidden")) {
    spec.hidden.push_back(absolute(path, "hidden"));
  }
  for (const Json& value : array_or_empty(o, "gpus")) {
    if (!value.is_int64()) throw Bad{"gpus must be integers"};
    spec.gpus.push_back(static_cast<int>(value.as_int64()));
  }
  if (const Json* environment = base::find(o, "environment"); environment != nullptr) {
    for (const auto& [name, value] : object_of(*environment, "environment")) {
      spec.environment[std::string(name)] = text_of(value, "environment");
    }
  }
}

void read_credentials(const JsonObject& o, InstanceSpec& spec) {
  const Json* given = base::find(o, "credentials");
  if (given == nullptr) return;
  const JsonObject& object = object_of(*given, "credentials");
  spec.credentials = {.access_key_id = required(object, "access_key_id"),
                      .secret = required(object, "secret"),
                      .session_token = base::string_or(*given, "session_token"),
                      .role_arn = base::string_or(*given, "role_arn"),
                      .expires = {base::int_or(*given, "expires", 0)}};
}

void read_limits(const JsonObject& o, InstanceSpec& spec) {
  const Json* limits = base::find(o, "limits");
  if (limits == nullptr) return;
  spec.limits.cpus = base::double_or(*limits, "cpus", 0);
  spec.limits.memory_bytes = unsigned_or_zero(*limits, "memory_bytes");
  spec.limits.processes = unsigned_or_zero(*limits, "processes");
}

InstanceSpec read_spec(const JsonObject& o) {
  InstanceSpec spec;
  const Json whole(o);
  spec.version = static_cast<int>(base::int_or(whole, "version", 1));
  spec.id = required(o, "id");
  spec.gang = base::string_or(whole, "gang");
  spec.directory = absolute(required(o, "directory"), "directory");
  spec.hostname = base::string_or(whole, "hostname");
  spec.working_directory = base::string_or(whole, "working_directory", "/");
  read_lists(o, spec);
  read_limits(o, spec);
  read_credentials(o, spec);
  const auto network = find_name(kNetworks, base::string_or(whole, "network", "gang"));
  if (!network) throw Bad{"network must be gang, isolated or host"};
  spec.network = static_cast<Network>(*network);
  spec.endpoint_socket = base::string_or(whole, "endpoint_socket");
  const std::uint64_t port = unsigned_or_zero(whole, "endpoint_port");
  if (port > 65535) throw Bad{"endpoint_port must be at most 65535"};
  spec.endpoint_port = static_cast<std::uint16_t>(port);
  spec.image = base::string_or(whole, "image");
  spec.log_file = base::string_or(whole, "log_file");
  spec.grace = base::Duration(base::int_or(whole, "grace_ms", 120'000));
  spec.gang_directory = base::string_or(whole, "gang_directory");
  const std::int64_t user = base::int_or(whole, "user_id", -1);
  const std::int64_t group = base::int_or(whole, "group_id", -1);
  if (user >= 0) spec.user_id = static_cast<std::uint32_t>(user);
  if (group >= 0) spec.group_id = static_cast<std::uint32_t>(group);
  if (spec.argv.empty() && spec.image.empty()) throw Bad{"argv is empty and there is no image"};
  return spec;
}

}  // namespace

base::Json to_json(const InstanceSpec& spec) {
  JsonArray hosts, mounts, hidden;
  for (const Host& host : spec.hosts) {
    hosts.push_back(JsonObject{{"name", host.name}, {"address", host.address}});
  }
  for (const Mount& mount : spec.mounts) {
    mounts.push_back(JsonObject{{"host", mount.host.string()},
                                {"inside", mount.inside.string()},
                                {"mode", kModes[static_cast<int>(mount.mode)]}});
  }
  for (const auto& path : spec.hidden) hidden.push_back(Json(path.string()));
  JsonObject environment;
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  JsonObject o{{"version", spec.version},
               {"id", spec.id},
               {"gang", spec.gang},
               {"directory", spec.directory.string()},
               {"hostname", spec.hostname},
               {"hosts", std::move(hosts)},
               {"argv", JsonArray(spec.argv.begin(), spec.argv.end())},
               {"environment", std::move(environment)},
               {"working_directory", spec.working_directory},
               {"mounts", std::move(mounts)},
               {"hidden", std::move(hidden)},
               {"limits", JsonObject{{"cpus", spec.limits.cpus},
                                     {"memory_bytes", spec.limits.memory_bytes},
                                     {"processes", spec.limits.processes}}},
               {"gpus", JsonArray(spec.gpus.begin(), spec.gpus.end())},
               {"network", kNetworks[static_cast<int>(spec.network)]},
               {"endpoint_socket", spec.endpoint_socket},
               {"endpoint_port", spec.endpoint_port},
               {"image", spec.image},
               {"entrypoint", JsonArray(spec.entrypoint.begin(), spec.entrypoint.end())},
               {"log_file", spec.log_file.string()},
               {"grace_ms", spec.grace.count()},
               {"gang_directory", spec.gang_directory.string()}};
  if (const auto& keys = spec.credentials) {
    o["credentials"] = JsonObject{{"access_key_id", keys->access_key_id},
                                  {"secret", keys->secret},
                                  {"session_token", keys->session_token},
                                  {"role_arn", keys->role_arn},
                                  {"expires", keys->expires.ms}};
  }
  if (spec.user_id) o["user_id"] = *spec.user_id;
  if (spec.group_id) o["group_id"] = *spec.group_id;
  return o;
}

base::Result<InstanceSpec> parse_instance_spec(std::string_view json) {
  auto parsed = base::parse_json(json);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return base::ParseError{"an instance spec must be a JSON object"};
  try {
    return read_spec(parsed->as_object());
  } catch (const Bad& bad) {
    return base::ParseError{bad.message};
  }
}

}  // namespace meridian::run
