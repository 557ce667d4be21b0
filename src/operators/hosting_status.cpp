// SPDX-License-Identifier: Apache-2.0
#include "operators/hosting_status.h"

#include <fmt/format.h>

#include "kube/object.h"
#include "operators/conditions.h"
#include "operators/form.h"
#include "operators/kinds.h"
#include "operators/remote.h"

namespace meridian::operators {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;
using Status = Condition::Status;

void copy_text(JsonObject& status, std::string_view field, const Json& description,
               std::string_view member) {
  const std::string value = base::string_or(description, member);
  if (value.empty()) {
    status.erase(field);
  } else {
    status[field] = value;
  }
}

void copy_time(JsonObject& status, std::string_view field, const Json& description,
               std::string_view member) {
  const double seconds = base::double_or(description, member, 0);
  if (seconds > 0)
    status[field] = kube::time_text(base::Timestamp{static_cast<std::int64_t>(seconds * 1000)});
}

// Members in lower camel case all the way down; weights stay fractions.
Json lowered(const Json& value) {
  if (const JsonObject* object = value.if_object()) {
    JsonObject result;
    for (const auto& [key, item] : *object) result[lower_first(key)] = lowered(item);
    return result;
  }
  if (const JsonArray* array = value.if_array()) {
    JsonArray result;
    for (const Json& item : *array) result.push_back(lowered(item));
    return result;
  }
  return value;
}

void settle_conditions(JsonObject& status, const Json& deployment, const std::string& word,
                       const std::string& failure, bool current, base::Timestamp now) {
  const std::int64_t generation = kube::generation_of(deployment);
  if (word == "Failed" || word == "OutOfService") {
    const std::string message = failure.empty() ? "the endpoint is " + word : failure;
    set_condition(status, {"Ready", Status::no, word, message}, generation, now);
    set_condition(status, {"Stalled", Status::yes, word, message}, generation, now);
    clear_condition(status, "Reconciling");
  } else if (word == "InService" && current) {
    set_condition(status, {"Ready", Status::yes, word, "the endpoint takes requests"}, generation,
                  now);
    clear_condition(status, "Stalled");
    clear_condition(status, "Reconciling");
  } else {
    const std::string message =
        fmt::format("the endpoint is {}{}", word, current ? "" : " with an earlier configuration");
    set_condition(status, {"Ready", word == "InService" ? Status::yes : Status::no, word, message},
                  generation, now);
    set_condition(status, {"Reconciling", Status::yes, word, message}, generation, now);
    clear_condition(status, "Stalled");
  }
}

}  // namespace

JsonObject hosting_status(const Json& deployment, const Json& description,
                          const std::string& config, base::Timestamp now) {
  const Json* present = base::find(deployment, "status");
  JsonObject status =
      present != nullptr && present->is_object() ? present->get_object() : JsonObject{};
  const std::string word = base::string_or(description, "EndpointStatus");
  const std::string name = base::string_or(description, "EndpointName");
  const std::string failure = base::string_or(description, "FailureReason");
  const std::string region = place_of(deployment).region;
  status["endpointStatus"] = word;
  status["endpointName"] = name;
  status["region"] = region;
  status["endpointUrl"] = fmt::format(
      "https://runtime.sagemaker.{}.amazonaws.com/endpoints/{}/invocations", region, name);
  copy_text(status, "endpointArn", description, "EndpointArn");
  copy_text(status, "endpointConfigName", description, "EndpointConfigName");
  copy_text(status, "failureReason", description, "FailureReason");
  copy_text(status, "additional", description, "FailureReason");
  copy_time(status, "creationTime", description, "CreationTime");
  copy_time(status, "lastModifiedTime", description, "LastModifiedTime");
  if (const Json* variants = base::find(description, "ProductionVariants")) {
    status["productionVariants"] = lowered(*variants);
  }
  status["reason"] = word == "Failed" ? "EndpointFailed" : "";
  status["observedGeneration"] = kube::generation_of(deployment);
  const bool current = base::string_or(description, "EndpointConfigName") == config;
  settle_conditions(status, deployment, word, failure, current, now);
  return status;
}

}  // namespace meridian::operators
