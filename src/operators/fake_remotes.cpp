// SPDX-License-Identifier: Apache-2.0
#include "operators/fake_remotes.h"

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
  throw aws::ApiError("UnknownOperationException", std::string(operation), 400);
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
  if (!job.contains("Tags")) job["Tags"] = JsonArray{};
  for (auto& [key, value] : more) job[key] = value;
}

JsonObject& FakeRemotes::get_job(const JsonObject& input) {
  const auto found = jobs_.find(base::string_or(input, "TrainingJobName"));
  if (found == jobs_.end())
    throw aws::ApiError("ValidationException", "Requested resource not found.", 400);
  return found->second;
}

Json FakeRemotes::list(const JsonObject& input) {
  JsonArray summaries;
  for (auto& [name, job] : jobs_) {
    if (job["LastModifiedTime"].as_double() > base::double_or(input, "LastModifiedTimeAfter", 0)) {
      summaries.push_back({{"TrainingJobName", name},
                           {"TrainingJobStatus", job["TrainingJobStatus"]},
                           {"LastModifiedTime", job["LastModifiedTime"]}});
    }
  }
  return {{"TrainingJobSummaries", std::move(summaries)}};
}

}  // namespace meridian::operators
