// SPDX-License-Identifier: Apache-2.0
#include "region/batch/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "region/batch/jobs/records.h"
#include "region/batch/jobs/spec.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

constexpr std::string_view kReserved = "AWS_BATCH";

void check_environment(const Json& container, std::string_view where) {
  const Json* list = base::find(container, "environment");
  if (list == nullptr) return;
  for (const Json& each : list->as_array())
    if (const std::string name = base::string_or(each, "name"); name.starts_with(kReserved))
      refuse(fmt::format("{}.environment: '{}': names that begin with {} are reserved", where, name,
                         kReserved));
}

void check_requirements(const Json& container, std::string_view where) {
  const Json* list = base::find(container, "resourceRequirements");
  if (list == nullptr) return;
  for (const Json& each : list->as_array()) {
    const std::string type = base::string_or(each, "type"), value = base::string_or(each, "value");
    const auto number = base::to_double(value);
    const double least = type == "MEMORY" ? 4 : type == "GPU" ? 1 : 0.25;
    if (number && *number >= least && *number <= 1e9) continue;
    refuse(fmt::format("{}.resourceRequirements: {} is '{}'; it must be a number of at least {}{}",
                       where, type, value, least, type == "MEMORY" ? " (MiB)" : ""));
  }
}

bool has(const Json& container, std::string_view legacy, std::string_view type) {
  if (base::find(container, legacy)) return true;
  const Json* list = base::find(container, "resourceRequirements");
  return list != nullptr && std::ranges::any_of(list->as_array(), [&](const Json& each) {
           return base::string_or(each, "type") == type;
         });
}

void check_volumes(const Json& container, std::string_view where) {
  const Json* points = base::find(container, "mountPoints");
  const Json* volumes = base::find(container, "volumes");
  if (volumes != nullptr)
    for (const Json& volume : volumes->as_array())
      if (base::find(volume, "efsVolumeConfiguration"))
        refuse(fmt::format("{}.volumes: EFS volumes are not there; mount a host path", where));
  if (points == nullptr) return;
  for (const Json& point : points->as_array()) {
    const std::string source = base::string_or(point, "sourceVolume");
    const bool known = volumes && std::ranges::any_of(volumes->as_array(), [&](const Json& each) {
                         return base::string_or(each, "name") == source;
                       });
    if (!known) refuse(fmt::format("{}.mountPoints: there is no volume '{}'", where, source));
    if (!base::string_or(point, "containerPath").starts_with('/'))
      refuse(fmt::format("{}.mountPoints: containerPath must be absolute", where));
  }
}

void check_container(const Json& container, std::string_view where) {
  if (base::string_or(container, "image").empty())
    refuse(fmt::format("{}.image must be given", where));
  if (!has(container, "vcpus", "VCPU") || !has(container, "memory", "MEMORY"))
    refuse(fmt::format("{}: VCPU and MEMORY must be given as resourceRequirements", where));
  if (base::int_or(container, "vcpus", 1) < 1 || base::int_or(container, "memory", 4) < 4)
    refuse(fmt::format("{}: vcpus must be at least 1 and memory at least 4 MiB", where));
  check_requirements(container, where);
  check_environment(container, where);
  check_volumes(container, where);
}

void check_nodes(const Json& nodes) {
  const std::int64_t count = base::int_or(nodes, "numNodes", 0);
  if (count < 2 || count > 1000) refuse("nodeProperties.numNodes must be between 2 and 1000");
  const std::int64_t main = base::int_or(nodes, "mainNode", -1);
  if (main < 0 || main >= count)
    refuse("nodeProperties.mainNode must be one of the nodes, 0 to numNodes - 1");
  std::vector<bool> covered(static_cast<std::size_t>(count));
  for (const Json& range : nodes.at("nodeRangeProperties").as_array()) {
    const std::string text = base::string_or(range, "targetNodes");
    const auto of = parse_node_range(text, static_cast<std::uint32_t>(count));
    const Json* container = base::find(range, "container");
    if (!of) refuse("nodeRangeProperties.targetNodes '" + text + "' names no nodes");
    if (container == nullptr)
      refuse("nodeRangeProperties: only ranges with `container` can be run here");
    check_container(*container, "nodeRangeProperties.container");
    std::fill(covered.begin() + of->from, covered.begin() + of->to + 1, true);
  }
  if (!std::ranges::all_of(covered, [](bool each) { return each; }))
    refuse("nodeRangeProperties must cover all nodes");
}

}  // namespace

void check_size(const JsonObject& input, std::size_t most, std::string_view what) {
  const std::size_t size = base::to_text(input).size();
  if (size > most) refuse(fmt::format("{} has {} bytes; at most {} are allowed", what, size, most));
}

void check_retry(const JsonObject& input) {
  const Json* retry = base::find(input, "retryStrategy");
  if (retry == nullptr) return;
  const std::int64_t attempts = base::int_or(*retry, "attempts", 1);
  if (attempts < 1 || attempts > 10) refuse("retryStrategy.attempts must be between 1 and 10");
  const Json* rules = base::find(*retry, "evaluateOnExit");
  if (rules == nullptr) return;
  if (!rules->as_array().empty() && !base::find(*retry, "attempts"))
    refuse("retryStrategy.evaluateOnExit needs attempts");
  if (rules->as_array().size() > 5) refuse("retryStrategy.evaluateOnExit: at most 5 are allowed");
  for (const Json& rule : rules->as_array()) {
    const std::string action = base::string_or(rule, "action");
    if (!base::equals_ignoring_case(action, "RETRY") && !base::equals_ignoring_case(action, "EXIT"))
      refuse(fmt::format("evaluateOnExit.action '{}' is neither RETRY nor EXIT", action));
    for (const char* member : {"onStatusReason", "onReason", "onExitCode"}) {
      const std::string pattern = base::string_or(rule, member);
      if (pattern.size() > 512) refuse(fmt::format("{}: at most 512 characters", member));
      if (const auto star = pattern.find('*');
          star != std::string::npos && star + 1 != pattern.size())
        refuse(fmt::format("{} '{}': a '*' may only be its last character", member, pattern));
      if (std::string_view(member) == "onExitCode" &&
          pattern.find_first_not_of("0123456789*") != std::string::npos)
        refuse(fmt::format("onExitCode '{}': only digits and a last '*' are allowed", pattern));
    }
  }
}

void check_timeout(const JsonObject& input) {
  const Json* timeout = base::find(input, "timeout");
  if (timeout && base::int_or(*timeout, "attemptDurationSeconds", 60) < 60)
    refuse("timeout.attemptDurationSeconds must be at least 60");
}

void check_definition(const JsonObject& input) {
  check_name("jobDefinitionName", base::string_or(input, "jobDefinitionName"));
  check_size(input, 24u << 10, "the job definition");
  check_retry(input);
  check_timeout(input);
  if (const auto priority = base::int_or(input, "schedulingPriority", 0);
      priority < 0 || priority > 9999)
    refuse("schedulingPriority must be between 0 and 9999");
  for (const char* other : {"eksProperties", "ecsProperties"})
    if (base::find(input, other))
      refuse(fmt::format("{} can't be run here; give containerProperties", other));
  const Json* container = base::find(input, "containerProperties");
  const Json* nodes = base::find(input, "nodeProperties");
  if (base::string_or(input, "type") == "multinode") {
    if (nodes == nullptr) refuse("a multinode definition needs nodeProperties");
    return check_nodes(*nodes);
  }
  if (container == nullptr) refuse("a container definition needs containerProperties");
  check_container(*container, "containerProperties");
}

void check_submission(const JsonObject& input) {
  check_name("jobName", base::string_or(input, "jobName"));
  check_size(input, 30u << 10, "the submission");
  check_retry(input);
  check_timeout(input);
  if (const Json* overrides = base::find(input, "containerOverrides")) {
    check_size(overrides->as_object(), 8192, "containerOverrides");
    check_environment(*overrides, "containerOverrides");
    check_requirements(*overrides, "containerOverrides");
  }
  if (const Json* array = base::find(input, "arrayProperties"); array && base::find(*array, "size"))
    if (const auto size = base::int_or(*array, "size", 0); size < 2 || size > 10'000)
      refuse(fmt::format("arrayProperties.size is {}; it must be between 2 and 10000", size));
  for (const char* other : {"eksPropertiesOverride", "ecsPropertiesOverride"})
    if (base::find(input, other)) refuse(fmt::format("{} can't be run here", other));
  const Json* depends_on = base::find(input, "dependsOn");
  if (depends_on && depends_on->as_array().size() > 20)
    refuse("dependsOn: at most 20 dependencies are allowed");
}

}  // namespace meridian::region::batch
