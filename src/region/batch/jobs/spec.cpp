// SPDX-License-Identifier: Apache-2.0
#include "region/batch/jobs/spec.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "region/batch/jobs/records.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Parameters = std::map<std::string, std::string>;

constexpr std::uint64_t kMiB = 1u << 20;

// `object`: a Json or a JsonObject, never converted: the answer points into it.
template <class Object>
const JsonArray* find_array(const Object& object, std::string_view member) {
  const Json* value = base::find(object, member);
  return value != nullptr && value->is_array() ? &value->get_array() : nullptr;
}

// Entries of `over` take the place of those with the same `key` in `lower`.
JsonArray merge_by(std::string_view key, const JsonArray* lower, const JsonArray& over) {
  JsonArray merged;
  const auto replaced = [&](const Json& entry) {
    return std::ranges::any_of(over, [&](const Json& each) {
      return base::string_or(each, key) == base::string_or(entry, key);
    });
  };
  if (lower != nullptr)
    for (const Json& entry : *lower)
      if (!replaced(entry)) merged.push_back(entry);
  for (const Json& entry : over) merged.push_back(entry);
  return merged;
}

bool has_requirement(const JsonObject& container, std::string_view type) {
  const JsonArray* list = find_array(container, "resourceRequirements");
  return list != nullptr && std::ranges::any_of(*list, [&](const Json& each) {
           return base::string_or(each, "type") == type;
         });
}

void apply_overrides(JsonObject& container, const Json& overrides) {
  if (const Json* command = base::find(overrides, "command")) container["command"] = *command;
  if (const Json* type = base::find(overrides, "instanceType")) container["instanceType"] = *type;
  for (const auto& [legacy, type] : {std::pair{"vcpus", "VCPU"}, std::pair{"memory", "MEMORY"}})
    if (const Json* value = base::find(overrides, legacy);
        value && !has_requirement(container, type))
      container[legacy] = *value;
  for (const auto& [list, key] :
       {std::pair{"environment", "name"}, std::pair{"resourceRequirements", "type"}})
    if (const JsonArray* over = find_array(overrides, list))
      container[list] = merge_by(key, find_array(container, list), *over);
}

void substitute_command(JsonObject& container, const Parameters& parameters) {
  Json* command = container.if_contains("command");
  if (command == nullptr || !command->is_array()) return;
  for (Json& word : command->get_array())
    word = substitute(base::view(word.as_string()), parameters);
}

Parameters read_parameters(const JsonObject& definition, const JsonObject& request) {
  Parameters parameters;
  for (const JsonObject* from : {&definition, &request})
    if (const Json* given = base::find(*from, "parameters"))
      for (const auto& [key, value] : given->as_object())
        parameters[std::string(key)] = std::string(base::view(value.as_string()));
  return parameters;
}

// nodeProperties with numNodes and the overrides of single ranges.
void make_nodes(JsonObject& nodes, const JsonObject& request, const Parameters& parameters) {
  const Json* overrides = base::find(request, "nodeOverrides");
  if (overrides != nullptr)
    if (const Json* count = base::find(*overrides, "numNodes")) nodes["numNodes"] = *count;
  for (Json& range : nodes["nodeRangeProperties"].as_array()) {
    Json* container = range.as_object().if_contains("container");
    if (container == nullptr) continue;
    const JsonArray* own = overrides ? find_array(*overrides, "nodePropertyOverrides") : nullptr;
    if (own != nullptr)
      for (const Json& each : *own)
        if (base::string_or(each, "targetNodes") == base::string_or(range, "targetNodes"))
          if (const Json* over = base::find(each, "containerOverrides"))
            apply_overrides(container->as_object(), *over);
    substitute_command(container->as_object(), parameters);
    add_empty_lists(container->as_object());
  }
}

std::int64_t requirement(const Json& container, std::string_view type, std::string_view legacy,
                         std::int64_t fallback) {
  if (const JsonArray* list = find_array(container, "resourceRequirements"))
    for (const Json& each : *list)
      if (base::string_or(each, "type") == type)
        if (const auto value = base::to_double(base::string_or(each, "value")))
          return static_cast<std::int64_t>(std::ceil(*value));
  return legacy.empty() ? fallback : base::int_or(container, legacy, fallback);
}

std::vector<Volume> read_volumes(const Json& container) {
  std::vector<Volume> out;
  const JsonArray* volumes = find_array(container, "volumes");
  const JsonArray* points = find_array(container, "mountPoints");
  if (volumes == nullptr || points == nullptr) return out;
  for (const Json& point : *points)
    for (const Json& volume : *volumes)
      if (base::string_or(volume, "name") == base::string_or(point, "sourceVolume")) {
        const Json* host = base::find_path(volume, "host.sourcePath");
        out.push_back({host && host->is_string() ? std::string(base::view(host->get_string())) : "",
                       base::string_or(point, "containerPath"),
                       base::bool_or(point, "readOnly", false)});
      }
  return out;
}

Container read_container(const Json& json) {
  Container container{.image = base::string_or(json, "image"),
                      .role = base::string_or(json, "jobRoleArn")};
  if (const JsonArray* command = find_array(json, "command"))
    for (const Json& word : *command) container.command.emplace_back(base::view(word.as_string()));
  if (const JsonArray* environment = find_array(json, "environment"))
    for (const Json& each : *environment)
      container.environment[base::string_or(each, "name")] = base::string_or(each, "value");
  container.volumes = read_volumes(json);
  container.vcpus =
      static_cast<int>(std::max<std::int64_t>(1, requirement(json, "VCPU", "vcpus", 1)));
  container.gpus = static_cast<int>(requirement(json, "GPU", "", 0));
  container.memory_bytes =
      static_cast<std::uint64_t>(requirement(json, "MEMORY", "memory", 0)) * kMiB;
  return container;
}

void read_nodes(const Json& nodes, JobSpec& spec) {
  const auto count = static_cast<std::uint32_t>(base::int_or(nodes, "numNodes", 1));
  spec.main_node = static_cast<int>(base::int_or(nodes, "mainNode", 0));
  spec.containers.assign(count, {});
  for (const Json& range : nodes.at("nodeRangeProperties").as_array()) {
    const auto of = parse_node_range(base::string_or(range, "targetNodes"), count);
    const Json* container = base::find(range, "container");
    if (!of || container == nullptr) continue;
    for (std::uint32_t node = of->from; node <= of->to; ++node)
      spec.containers[node] = read_container(*container);
  }
}

std::vector<Dependency> read_dependencies(const JsonObject& detail) {
  std::vector<Dependency> out;
  const Json* list = base::find(detail, "dependsOn");
  if (list == nullptr) return out;
  for (const Json& each : list->as_array()) {
    const std::string type = base::string_or(each, "type");
    const auto target = parse_job_id(base::string_or(each, "jobId"));
    Dependency dependency;
    if (target) {
      dependency.job = target->job;
      dependency.index = target->index;
    }
    if (type == "SEQUENTIAL") dependency.kind = Dependency::Kind::sequential;
    if (type == "N_TO_N") dependency.kind = Dependency::Kind::n_to_n;
    out.push_back(std::move(dependency));
  }
  return out;
}

void read_retry(const JsonObject& detail, JobSpec& spec) {
  const Json* retry = base::find(detail, "retryStrategy");
  if (retry == nullptr) return;
  spec.attempts = static_cast<int>(base::int_or(*retry, "attempts", 1));
  const JsonArray* rules = find_array(*retry, "evaluateOnExit");
  if (rules == nullptr) return;
  for (const Json& each : *rules)
    spec.exit_rules.push_back(
        {.status_reason = base::find_string(each, "onStatusReason"),
         .reason = base::find_string(each, "onReason"),
         .exit_code = base::find_string(each, "onExitCode"),
         .retry = base::equals_ignoring_case(base::string_or(each, "action"), "RETRY")});
}

}  // namespace

int JobSpec::vcpus() const {
  int sum = 0;
  for (const Container& each : containers) sum += each.vcpus;
  return sum;
}

int JobSpec::gpus() const {
  int sum = 0;
  for (const Container& each : containers) sum += each.gpus;
  return sum;
}

std::string substitute(std::string_view word, const Parameters& parameters) {
  constexpr std::string_view kMark = "Ref::";
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  std::string out;
  while (!word.empty()) {
    const auto mark = word.find(kMark);
    out += word.substr(0, mark);
    if (mark == std::string_view::npos) break;
    word.remove_prefix(mark + kMark.size());
    // The longest parameter that the text goes on with: "Ref::a.txt" may mean a or a.txt.
    auto end = std::find_if_not(word.begin(), word.end(), is_name);
    std::size_t length = static_cast<std::size_t>(end - word.begin());
    auto found = parameters.find(std::string(word.substr(0, length)));
    for (; found == parameters.end() && length > 1;
         found = parameters.find(std::string(word.substr(0, length))))
      --length;
    if (found == parameters.end()) {
      out += kMark;
    } else {
      out += found->second;
      word.remove_prefix(length);
    }
  }
  return out;
}

std::optional<NodeRange> parse_node_range(std::string_view text, std::uint32_t count) {
  const auto colon = text.find(':');
  const std::string_view left = text.substr(0, colon);
  const std::string_view right = colon == std::string_view::npos ? left : text.substr(colon + 1);
  const auto from = left.empty() && colon == 0 ? 0 : base::to_uint(left);
  const auto to = right.empty() && colon != std::string_view::npos
                      ? std::optional<std::uint64_t>(count ? count - 1 : 0)
                      : base::to_uint(right);
  if (!from || !to || *from > *to || *from >= count) return std::nullopt;
  return NodeRange{static_cast<std::uint32_t>(*from),
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(*to, count - 1))};
}

void add_empty_lists(JsonObject& container) {
  for (const char* list : {"command", "volumes", "environment", "mountPoints", "ulimits",
                           "resourceRequirements", "secrets"})
    if (!container.contains(list)) container[list] = JsonArray{};
}

std::string name_of(std::string_view name_or_arn) {
  if (!name_or_arn.starts_with("arn:")) return std::string(name_or_arn);
  return std::string(name_or_arn.substr(name_or_arn.rfind('/') + 1));
}

JsonObject make_detail(const JsonObject& definition, const JsonObject& request) {
  JsonObject detail;
  const Parameters parameters = read_parameters(definition, request);
  JsonObject shown;
  for (const auto& [key, value] : parameters) shown[key] = value;
  detail["parameters"] = std::move(shown);
  for (const char* member : {"retryStrategy", "timeout", "propagateTags", "platformCapabilities"})
    for (const JsonObject* from : {&request, &definition})
      if (const Json* value = base::find(*from, member); value && !detail.contains(member))
        detail[member] = *value;
  if (const Json* value = base::find(request, "dependsOn")) detail["dependsOn"] = *value;
  if (const Json* tags = base::find(request, "tags")) detail["tags"] = *tags;
  const Json* consumables = base::find(request, "consumableResourcePropertiesOverride");
  if (!consumables) consumables = base::find(definition, "consumableResourceProperties");
  if (consumables) detail["consumableResourceProperties"] = *consumables;
  if (const Json* nodes = base::find(definition, "nodeProperties")) {
    JsonObject made = nodes->as_object();
    make_nodes(made, request, parameters);
    detail["nodeProperties"] = std::move(made);
  }
  if (const Json* properties = base::find(definition, "containerProperties")) {
    JsonObject container = properties->as_object();
    if (const Json* over = base::find(request, "containerOverrides"))
      apply_overrides(container, *over);
    substitute_command(container, parameters);
    add_empty_lists(container);
    container["networkInterfaces"] = JsonArray{};
    detail["container"] = std::move(container);
  }
  return detail;
}

JobSpec read_spec(const JsonObject& detail) {
  JobSpec spec{.detail = detail};
  if (const Json* nodes = base::find(detail, "nodeProperties"))
    read_nodes(*nodes, spec);
  else if (const Json* container = base::find(detail, "container"))
    spec.containers = {read_container(*container)};
  spec.depends_on = read_dependencies(detail);
  read_retry(detail, spec);
  if (const Json* timeout = base::find(detail, "timeout"))
    if (const auto seconds = base::int_or(*timeout, "attemptDurationSeconds", 0); seconds > 0)
      spec.timeout_seconds = seconds;
  if (const Json* wanted = base::find(detail, "consumableResourceProperties"))
    if (const JsonArray* list = find_array(*wanted, "consumableResourceList"))
      for (const Json& each : *list)
        spec.consumables[name_of(base::string_or(each, "consumableResource"))] +=
            base::int_or(each, "quantity", 1);
  return spec;
}

}  // namespace meridian::region::batch
