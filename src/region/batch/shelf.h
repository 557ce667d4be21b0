// Things with a name that are kept as the API shows them: job definitions, queues, compute
// environments, scheduling policies, consumable resources.
//
// Stateless over the store; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "region/batch/core.h"

namespace meridian::region::batch {

struct Shelf {
  std::string_view key;   // of documents: "queue/"
  std::string_view type;  // in ARNs: "job-queue"
  std::string_view name_member, arn_member;
};
inline constexpr Shelf kQueues{"queue/", "job-queue", "jobQueueName", "jobQueueArn"};
inline constexpr Shelf kEnvironments{"environment/", "compute-environment",
                                     "computeEnvironmentName", "computeEnvironmentArn"};
inline constexpr Shelf kPolicies{"policy/", "scheduling-policy", "name", "arn"};
inline constexpr Shelf kServiceEnvironments{"service-environment/", "service-environment",
                                            "serviceEnvironmentName", "serviceEnvironmentArn"};
inline constexpr Shelf kConsumables{"consumable/", "consumable-resource", "consumableResourceName",
                                    "consumableResourceArn"};

std::optional<base::JsonObject> find_item(const Core& core, const Shelf& shelf,
                                          std::string_view name_or_arn);
// ClientException when there is none.
base::JsonObject get_item(const Core& core, const Shelf& shelf, std::string_view name_or_arn);
// With its name and ARN filled in. ClientException when the name is taken or not well formed.
base::JsonObject create_item(Core& core, const Shelf& shelf, const std::string& name,
                             base::JsonObject item);
// Reads, changes and writes until nobody comes between.
void change_item(Core& core, const Shelf& shelf, std::string_view name_or_arn,
                 const std::function<void(base::JsonObject&)>& change);
void remove_item(Core& core, const Shelf& shelf, std::string_view name_or_arn);
std::vector<base::JsonObject> all_items(const Core& core, const Shelf& shelf);
// A Describe… call: those that `names_member` lists, or all of them by pages.
base::Json describe_items(const Core& core, const Shelf& shelf, const base::JsonObject& input,
                          std::string_view names_member, std::string_view answer_member);

// 1 to 128 letters, digits, hyphens and underscores, the first a letter or digit. ClientException.
void check_name(std::string_view what, std::string_view name);
[[noreturn]] void refuse(const std::string& message);  // ClientException

}  // namespace meridian::region::batch
