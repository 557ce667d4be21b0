// SPDX-License-Identifier: Apache-2.0
#include "run/script/launcher.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "run/script/launcher_parts.h"
#include "run/script/python_text.h"

namespace meridian::run {
using base::Json;
using base::JsonArray;
using base::JsonObject;
namespace {

constexpr std::string_view kPrefix = "sagemaker_";

// Hyperparameters that configure the toolkit itself and go no further.
const std::set<std::string, std::less<>> kToolkitParameters = {
    "sagemaker_program",   "sagemaker_submit_directory",    "sagemaker_enable_cloudwatch_metrics",
    "sagemaker_region",    "sagemaker_container_log_level", "sagemaker_job_name",
    "sagemaker_s3_output", "default_user_module_name",      "_tuning_objective_metric"};

bool is_user_parameter(std::string_view name) {
  return !name.starts_with(kPrefix) && !kToolkitParameters.contains(name);
}

Json typed(const std::string& text) {
  auto parsed = base::parse_json(text);
  return parsed ? std::move(*parsed) : Json(text);
}

// Text as it is, nothing for null, JSON for the rest.
std::string variable_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return std::string(base::view(value.as_string()));
  return base::to_text(value, base::JsonStyle::sorted);
}

int host_number(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) return 0;
  return static_cast<int>(base::to_int(std::string_view(name).substr(dash + 1)).value_or(0));
}

const GroupHosts* find_group(const ScriptJob& job, const std::string& name) {
  for (const GroupHosts& group : job.groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

JsonArray list(const std::vector<std::string>& texts) {
  return JsonArray(texts.begin(), texts.end());
}

JsonObject group_object(const GroupHosts& group) {
  return {{"hosts", list(group.hosts)},
          {"instance_group_name", group.name},
          {"instance_type", group.instance_type}};
}

std::string module_name(const std::string& program) {
  return program.ends_with(".py") ? program.substr(0, program.size() - 3) : program;
}

JsonObject resource_config(const ScriptJob& job, const std::string& instance_type) {
  JsonArray groups;
  for (const GroupHosts& group : job.groups) groups.push_back(group_object(group));
  return {
      {"current_group_name", job.current_group}, {"current_host", job.current_host},
      {"current_instance_type", instance_type},  {"hosts", list(hosts_of(job, nullptr))},
      {"instance_groups", std::move(groups)},    {"network_interface_name", job.network_interface}};
}

JsonObject framework_parameters(const ScriptJob& job) {
  JsonObject out;
  for (const auto& [name, text] : job.hyperparameters) {
    if (!is_user_parameter(name) && !kToolkitParameters.contains(name)) out[name] = typed(text);
  }
  return out;
}

// The members of the toolkit's environment object, by lower-case name: each becomes SM_<NAME>, and
// the whole SM_TRAINING_ENV.
JsonObject environment_object(const ScriptJob& job) {
  const GroupHosts* own = find_group(job, job.current_group);
  const std::string type = own != nullptr ? own->instance_type : "";
  const auto distribution = find_distribution_groups(job);
  JsonArray names, channels, distribution_names;
  JsonObject groups, channel_directories, data_config;
  for (const GroupHosts& group : job.groups) {
    names.push_back(Json(group.name));
    groups[group.name] = group_object(group);
  }
  for (const auto& [channel, config] : job.input_data_config) {
    channels.push_back(Json(channel));
    channel_directories[channel] = "/opt/ml/input/data/" + channel;
    data_config[channel] = config;
  }
  if (distribution) {
    for (const std::string& name : *distribution) distribution_names.push_back(Json(name));
  } else {
    distribution_names.push_back(Json(job.current_group));
  }
  const auto hosts = hosts_of(job, distribution ? &*distribution : nullptr);
  const std::string master = hosts.empty() ? job.current_host : hosts.front();
  const std::string program = find_setting(job, "sagemaker_program").value_or("");
  const JsonObject user = user_hyperparameters(job.hyperparameters);
  return {{"additional_framework_parameters", framework_parameters(job)},
          {"channel_input_dirs", std::move(channel_directories)},
          {"channels", std::move(channels)},
          {"current_host", job.current_host},
          {"current_instance_group", job.current_group},
          {"current_instance_group_hosts", own != nullptr ? list(own->hosts) : JsonArray{}},
          {"current_instance_type", type},
          {"distribution_hosts", list(hosts)},
          {"distribution_instance_groups", std::move(distribution_names)},
          {"hosts", list(hosts_of(job, nullptr))},
          {"hyperparameters", user},
          {"input_config_dir", "/opt/ml/input/config"},
          {"input_data_config", std::move(data_config)},
          {"input_dir", "/opt/ml/input"},
          {"instance_groups", std::move(names)},
          {"instance_groups_dict", std::move(groups)},
          {"is_hetero", job.groups.size() > 1},
          {"is_master", job.current_host == master},
          {"job_name", find_setting(job, "sagemaker_job_name").value_or(job.job_name)},
          {"log_level", typed(find_setting(job, "sagemaker_container_log_level").value_or("20"))},
          {"master_hostname", master},
          {"model_dir", "/opt/ml/model"},
          {"module_dir", find_setting(job, "sagemaker_submit_directory").value_or(kCodeDirectory)},
          {"module_name", module_name(program)},
          {"network_interface_name", job.network_interface},
          {"num_cpus", job.cpus},
          {"num_gpus", job.gpus},
          {"num_neurons", 0},
          {"output_data_dir", "/opt/ml/output/data"},
          {"output_dir", "/opt/ml/output"},
          {"output_intermediate_dir", "/opt/ml/output/intermediate"},
          {"resource_config", resource_config(job, type)},
          {"user_entry_point", program}};
}

// Members that exist in SM_TRAINING_ENV only, or have another variable name.
const std::set<std::string, std::less<>> kOnlyInObject = {"additional_framework_parameters",
                                                          "channel_input_dirs",
                                                          "distribution_hosts",
                                                          "hyperparameters",
                                                          "is_master",
                                                          "job_name",
                                                          "master_hostname"};

}  // namespace

std::optional<std::string> find_setting(const ScriptJob& job, const std::string& name) {
  if (const auto it = job.hyperparameters.find(name); it != job.hyperparameters.end()) {
    return variable_text(typed(it->second));
  }
  if (const auto it = job.environment.find(base::to_upper(name)); it != job.environment.end()) {
    return it->second;
  }
  return std::nullopt;
}

std::vector<std::string> hosts_of(const ScriptJob& job, const std::set<std::string>* groups) {
  std::vector<std::string> hosts;
  for (const GroupHosts& group : job.groups) {
    if (groups != nullptr && !groups->contains(group.name)) continue;
    hosts.insert(hosts.end(), group.hosts.begin(), group.hosts.end());
  }
  // Every host must elect the same master, so all see the same order: algo-1 first.
  std::ranges::stable_sort(hosts, {}, host_number);
  return hosts;
}

std::optional<std::set<std::string>> find_distribution_groups(const ScriptJob& job) {
  const auto text = find_setting(job, "sagemaker_distribution_instance_groups");
  if (!text) return std::nullopt;
  const Json value = typed(*text);
  std::set<std::string> groups;
  if (value.is_array()) {
    for (const Json& name : value.as_array()) groups.insert(variable_text(name));
  } else {
    groups.insert(variable_text(value));
  }
  for (const std::string& name : groups) {
    if (find_group(job, name) == nullptr) {
      throw base::Error(base::Code::invalid_argument,
                        "sagemaker_distribution_instance_groups names '" + name +
                            "', which is not an instance group of this job");
    }
  }
  return groups;
}

base::JsonObject user_hyperparameters(const std::map<std::string, std::string>& all) {
  JsonObject out;
  for (const auto& [name, text] : all) {
    if (is_user_parameter(name)) out[name] = typed(text);
  }
  return out;
}

std::vector<std::string> command_line(const base::JsonObject& user_hyperparameters) {
  std::map<std::string, const Json*> sorted;
  for (const auto& [name, value] : user_hyperparameters) sorted[std::string(name)] = &value;
  std::vector<std::string> words;
  for (const auto& [name, value] : sorted) {
    words.push_back((name.size() > 1 ? "--" : "-") + name);
    if (!value->is_object()) {
      words.push_back(python_str(*value));
      continue;
    }
    std::map<std::string, std::string> pairs;
    for (const auto& [key, member] : value->as_object())
      pairs[std::string(key)] = python_str(member);
    std::vector<std::string> items;
    for (const auto& [key, member] : pairs) items.push_back(key + "=" + member);
    words.push_back(base::join(items, ","));
  }
  return words;
}

std::map<std::string, std::string> script_environment(const ScriptJob& job) {
  const JsonObject object = environment_object(job);
  const JsonObject user = user_hyperparameters(job.hyperparameters);
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : object) {
    if (!kOnlyInObject.contains(std::string_view(name))) {
      out["SM_" + base::to_upper(name)] = variable_text(value);
    }
  }
  for (const auto& [channel, config] : job.input_data_config) {
    out["SM_CHANNEL_" + base::to_upper(channel)] = "/opt/ml/input/data/" + channel;
  }
  for (const auto& [name, value] : user) {
    out["SM_HP_" + base::to_upper(name)] = variable_text(value);
  }
  out["SM_HPS"] = base::to_text(user, base::JsonStyle::sorted);
  out["SM_FRAMEWORK_PARAMS"] = base::to_text(framework_parameters(job), base::JsonStyle::sorted);
  out["SM_FRAMEWORK_MODULE"] = find_setting(job, "sagemaker_training_module").value_or("");
  out["SM_USER_ARGS"] = base::to_text(list(command_line(user)));
  out["SM_TRAINING_ENV"] = base::to_text(object, base::JsonStyle::sorted);
  out["SAGEMAKER_JOB_NAME"] = job.job_name;
  out["SAGEMAKER_REGION"] = job.region;
  out["CURRENT_HOST"] = job.current_host;
  const auto path = job.environment.find("PYTHONPATH");
  out["PYTHONPATH"] = path == job.environment.end() || path->second.empty()
                          ? kCodeDirectory
                          : std::string(kCodeDirectory) + ":" + path->second;
  return out;
}

}  // namespace meridian::run
