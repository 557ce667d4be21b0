// SPDX-License-Identifier: Apache-2.0
#include "operators/fake_remotes.h"

#include <algorithm>

namespace meridian::operators {

using base::Json;
using base::JsonArray;
using base::JsonObject;

Json FakeRemotes::call(std::string_view, std::string_view operation, const JsonObject& input) {
  ++calls[std::string(operation)];
  if (fail_all) throw *fail_all;
  if (operation == "CreateTrainingJob") return create(input);
  if (operation == "DescribeTrainingJob") return get_job(input);
  if (operation == "ListTrainingJobs") return list(input);
  if (operation == "StopTrainingJob") {
    JsonObject& job = get_job(input);
    put(base::string_or(job, "TrainingJobName"), "Stopping");
    return JsonObject{};
  }
  if (operation == "ListTags") {
    for (auto& [name, job] : jobs_) {
      if (job["TrainingJobArn"] == input.at("ResourceArn")) return {{"Tags", job["Tags"]}};
    }
    return {{"Tags", JsonArray{}}};
  }
  if (auto answer = call_definition(operation, input)) return *answer;
  if (auto answer = call_endpoint(operation, input)) return *answer;
  if (auto answer = call_tuning(operation, input)) return *answer;
  if (auto answer = call_scaling(operation, input)) return *answer;
  throw aws::ApiError("UnknownOperationException", std::string(operation), 400);
}

std::optional<Json> FakeRemotes::call_definition(std::string_view operation,
                                                 const JsonObject& input) {
  const bool model = operation.ends_with("Model");
  if (!model && !operation.ends_with("EndpointConfig")) return std::nullopt;
  auto& records = model ? models : configs;
  const std::string name = base::string_or(input, model ? "ModelName" : "EndpointConfigName");
  if (operation.starts_with("Create")) {
    if (fail_next_create) {
      const aws::ApiError error = *fail_next_create;
      fail_next_create.reset();
      throw error;
    }
    if (records.contains(name))
      throw aws::ApiError("ValidationException", "Cannot create already existing model", 400);
    records[name] = input;
    records[name][model ? "ModelArn" : "EndpointConfigArn"] = "arn/" + name;
    return records[name];
  }
  if (!records.contains(name)) {
    throw aws::ApiError("ValidationException",
                        model ? "Could not find model" : "Could not find endpoint configuration",
                        400);
  }
  const Json record = records[name];
  if (operation.starts_with("Delete")) records.erase(name);
  return record;
}

std::optional<Json> FakeRemotes::call_endpoint(std::string_view operation,
                                               const JsonObject& input) {
  if (operation == "ListEndpoints") {
    JsonArray list;
    for (auto& [name, endpoint] : endpoints) {
      list.push_back({{"EndpointName", name}, {"LastModifiedTime", endpoint["LastModifiedTime"]}});
    }
    return Json{{"Endpoints", std::move(list)}};
  }
  if (!operation.ends_with("Endpoint") || lacks_endpoints) return std::nullopt;
  const std::string name = base::string_or(input, "EndpointName");
  if (operation == "CreateEndpoint") {
    endpoints[name] = input;
    endpoints[name]["EndpointArn"] = "arn/" + name;
    endpoints[name]["EndpointStatus"] = "Creating";
    endpoints[name]["LastModifiedTime"] = clock_.now().seconds();
    return endpoints[name];
  }
  if (!endpoints.contains(name))
    throw aws::ApiError("ValidationException", "Could not find endpoint", 400);
  JsonObject& endpoint = endpoints[name];
  if (operation == "UpdateEndpoint") {
    endpoint["EndpointStatus"] = "Updating";
    endpoint["NextConfig"] = input.at("EndpointConfigName");
    endpoint["LastModifiedTime"] = clock_.now().seconds();
  }
  const Json answer = endpoint;
  if (operation == "DeleteEndpoint") endpoints.erase(name);
  return answer;
}

Json FakeRemotes::create(const JsonObject& input) {
  if (fail_next_create) {
    const aws::ApiError error = *fail_next_create;
    fail_next_create.reset();
    throw error;
  }
  const std::string name = base::string_or(input, "TrainingJobName");
  if (jobs_.contains(name)) throw aws::ApiError("ResourceInUse", "Job name must be unique", 400);
  jobs_[name] = input;
  put(name, "InProgress", {{"SecondaryStatus", "Starting"}});
  if (forget_answer) {
    forget_answer = false;
    throw base::Error(base::Code::unavailable, "the connection broke", base::Retry::yes);
  }
  return {{"TrainingJobArn", jobs_[name]["TrainingJobArn"]}};
}

void FakeRemotes::put(const std::string& name, std::string status, JsonObject more) {
  JsonObject& job = jobs_[name];
  job["TrainingJobName"] = name;
  job["TrainingJobArn"] = "arn:aws:sagemaker:us-west-2:000000000000:training-job/" + name;
  job["TrainingJobStatus"] = std::move(status);
  job["LastModifiedTime"] = clock_.now().seconds();
  if (!job.contains("CreationTime")) job["CreationTime"] = clock_.now().seconds();
  if (!job.contains("Tags")) job["Tags"] = JsonArray{};
  for (auto& [key, value] : more) job[key] = value;
}

JsonObject& FakeRemotes::get_job(const JsonObject& input) {
  const auto found = jobs_.find(base::string_or(input, "TrainingJobName"));
  if (found == jobs_.end())
    throw aws::ApiError("ValidationException", "Requested resource not found.", 400);
  return found->second;
}

std::vector<std::string> FakeRemotes::names() const {
  std::vector<std::string> names;
  for (const auto& [name, _] : jobs_) names.push_back(name);
  return names;
}

JsonObject FakeRemotes::summary_of(const JsonObject& job) {
  JsonObject summary;
  for (const char* member : {"TrainingJobName", "TrainingJobArn", "TrainingJobStatus",
                             "CreationTime", "LastModifiedTime"}) {
    summary[member] = job.at(member);
  }
  return summary;
}

std::optional<Json> FakeRemotes::call_scaling(std::string_view operation, const JsonObject& input) {
  const bool policy = operation.find("ScalingPolic") != std::string_view::npos;
  if (!policy && !operation.ends_with("ScalableTarget")) return std::nullopt;
  auto& records = policy ? policies : targets;
  const std::string resource = base::string_or(input, "ResourceId");
  if (operation.starts_with("Describe")) {
    JsonArray found;
    if (records.contains(resource)) found.push_back(records[resource]);
    return Json{{"ScalingPolicies", std::move(found)}};
  }
  if (operation.starts_with("De")) {
    if (records.erase(resource) == 0)
      throw aws::ApiError("ObjectNotFoundException", "No scaling policy found", 400);
    return JsonObject{};
  }
  if (!endpoint_is_ready) {
    throw aws::ApiError("ValidationException",
                        "The status should be in 'InService' to register it as a scalable target",
                        400);
  }
  if (policy && fail_next_create) {
    const aws::ApiError error = *fail_next_create;
    fail_next_create.reset();
    throw error;
  }
  records[resource] = input;
  return JsonObject{};
}

std::optional<Json> FakeRemotes::call_tuning(std::string_view operation, const JsonObject& input) {
  const std::string name = base::string_or(input, "HyperParameterTuningJobName");
  if (operation == "ListTrainingJobsForHyperParameterTuningJob") {
    std::vector<JsonObject> trials;
    for (auto& [_, job] : jobs_) {
      if (base::string_or(job, "TuningJobArn") == "arn/" + name) trials.push_back(summary_of(job));
    }
    std::ranges::sort(trials, std::ranges::greater{},
                      [](const JsonObject& t) { return base::double_or(t, "CreationTime", 0); });
    return Json{{"TrainingJobSummaries", JsonArray(trials.begin(), trials.end())}};
  }
  if (operation == "ListHyperParameterTuningJobs") {
    JsonArray list;
    for (auto& [tuning, record] : tunings) {
      list.push_back({{"HyperParameterTuningJobName", tuning},
                      {"LastModifiedTime", record["LastModifiedTime"]}});
    }
    return Json{{"HyperParameterTuningJobSummaries", std::move(list)}};
  }
  if (!operation.ends_with("HyperParameterTuningJob")) return std::nullopt;
  if (operation.starts_with("Create")) {
    tunings[name] = input;
    tunings[name]["HyperParameterTuningJobArn"] = "arn/" + name;
    tunings[name]["HyperParameterTuningJobStatus"] = "InProgress";
    tunings[name]["LastModifiedTime"] = clock_.now().seconds();
  }
  if (!tunings.contains(name)) {
    throw aws::ApiError("ResourceNotFound", "Amazon SageMaker can't find a tuning job", 400);
  }
  if (operation.starts_with("Stop")) {
    tunings[name]["HyperParameterTuningJobStatus"] = "Stopped";
    tunings[name]["LastModifiedTime"] = clock_.now().seconds();
  }
  return tunings[name];
}

Json FakeRemotes::list(const JsonObject& input) {
  JsonArray summaries;
  for (auto& [name, job] : jobs_) {
    if (job["LastModifiedTime"].as_double() > base::double_or(input, "LastModifiedTimeAfter", 0) &&
        job["CreationTime"].as_double() > base::double_or(input, "CreationTimeAfter", 0)) {
      summaries.push_back(summary_of(job));
    }
  }
  return {{"TrainingJobSummaries", std::move(summaries)}};
}

}  // namespace meridian::operators
