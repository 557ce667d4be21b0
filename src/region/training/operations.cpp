// SPDX-License-Identifier: Apache-2.0
#include "region/training/operations.h"

#include "aws/model.h"
#include "base/strings.h"
#include "region/training/validate.h"

namespace meridian::region::training {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

// A gang that its pool can never hold, in the words of AWS and in ours.
void check_capacity(Core& core, const JobSpec& spec) {
  capacity::LeaseRequest request{.owner = Core::lease_owner(spec.name),
                                 .instances = spec.instances_by_type()};
  try {
    core.parts.capacity.check_possible(request);
  } catch (const base::Error& error) {
    if (error.code() != base::Code::resource_exhausted) throw;
    throw aws::ApiError(
        "ResourceLimitExceeded",
        "The account-level service limit for training job usage is exceeded: " + error.message());
  }
}

std::vector<std::string> warnings_for(const JsonObject& input) {
  std::vector<std::string> warnings;
  if (const aws::Model* model = aws::find_model("sagemaker")) {
    JsonObject copy = input;
    const aws::Operation* operation = model->find_operation("CreateTrainingJob");
    for (const auto& field : aws::inspect(*operation, copy).unknown_fields)
      warnings.push_back(field + ": unknown field, kept and ignored");
  }
  for (auto& field : unenforced_fields(input)) warnings.push_back(std::move(field));
  for (auto& field : idle_fields(input)) warnings.push_back(std::move(field));
  return warnings;
}

[[noreturn]] void refuse_name(const Core& core, const std::string& name) {
  throw aws::ApiError("ResourceInUse",
                      "Training job names must be unique within an AWS account and region, and a "
                      "training job with this name already exists (" +
                          core.arn(name) + ")");
}

}  // namespace

JobRecord get_job(Core& core, const JsonObject& input, std::string_view member) {
  std::string name = base::string_or(input, member);
  auto record = core.records.find(name);
  if (!record)
    throw aws::ApiError("ValidationException",
                        "Requested resource not found: there is no training job '" + name +
                            "' in " + core.settings.region);
  return *record;
}

Json create_training_job(Core& core, const JsonObject& input) {
  JobSpec spec = read_spec(input);
  if (core.records.find(spec.name)) refuse_name(core, spec.name);
  check_request(input, spec, core.settings);
  check_capacity(core, spec);
  check_data(spec, core.parts.objects, core.settings);

  JobRecord record;
  record.name = spec.name;
  record.uid = core.parts.random.hex(8);
  record.arn = core.arn(spec.name);
  record.request = input;
  record.request.erase("Tags");
  if (const Json* tags = base::find(input, "Tags")) record.tags = tags->as_array();
  record.created = record.modified = core.parts.clock.now();
  record.warnings = warnings_for(input);
  record.timings.last_ticks = core.parts.clock.ticks().ms;
  record.timings.boot_id = core.settings.boot_id;
  enter(record, "Starting", "Starting the training job", record.created);
  if (!core.records.create(record)) refuse_name(core, spec.name);
  core.parts.runner.add(core.step_key(spec.name));
  return JsonObject{{"TrainingJobArn", record.arn}};
}

Json stop_training_job(Core& core, const JsonObject& input) {
  JobRecord job = get_job(core, input);
  core.records.update(job.name, [&](JobRecord& record) {
    if (record.terminal())
      throw aws::ApiError(
          "ValidationException",
          "The request was rejected because the training job is in status " + record.status + ".");
    if (record.stop_requested) return false;
    record.stop_requested = true;
    record.status = "Stopping";
    record.modified = core.parts.clock.now();
    enter(record, "Stopping", "Stopping the training job", record.modified);
    return true;
  });
  core.parts.runner.add(core.step_key(job.name));
  return JsonObject{};
}

Json delete_training_job(Core& core, const JsonObject& input) {
  const std::string name = base::string_or(input, "TrainingJobName");
  auto record = core.records.find(name);
  if (!record)
    throw aws::ApiError("ResourceNotFound",
                        "Requested resource not found: there is no training job '" + name +
                            "' in " + core.settings.region);
  if (!record->terminal())
    throw aws::ApiError("ResourceInUse",
                        "The request was rejected because the training job is in status " +
                            record->status + "; stop it first.");
  std::vector<store::Write> also;
  if (record->warm()) also.push_back(core.parts.capacity.release(Core::warm_owner(name)));
  if (!record->cleaned || !core.records.remove(*record, also))
    throw aws::ApiError("ResourceInUse",
                        "The training job '" + name + "' is still being cleaned up. Try again.");
  core.wake_waiting();
  return JsonObject{};
}

Json update_training_job(Core& core, const JsonObject& input) {
  JobRecord job = get_job(core, input);
  const Json* resource_config = base::find(input, "ResourceConfig");
  const Json* period =
      resource_config ? base::find(*resource_config, "KeepAlivePeriodInSeconds") : nullptr;
  auto updated = core.records.update(job.name, [&](JobRecord& record) {
    for (const char* field : {"ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig"})
      if (const Json* value = base::find(input, field)) record.request[field] = *value;
    if (period != nullptr) {
      JsonObject& resources = record.request["ResourceConfig"].as_object();
      if (!resources.contains("KeepAlivePeriodInSeconds"))
        throw aws::ApiError("ValidationException",
                            "KeepAlivePeriodInSeconds can only be changed on a training job that "
                            "was created with it");
      resources["KeepAlivePeriodInSeconds"] = *period;
    }
    record.modified = core.parts.clock.now();
    return true;
  });
  core.parts.runner.add(core.step_key(job.name));
  return JsonObject{{"TrainingJobArn", updated ? updated->arn : job.arn}};
}

Json why(Core& core, const JsonObject& input) {
  JobRecord record = get_job(core, input, "job");
  JsonObject answer{{"job", record.name},
                    {"status", record.status},
                    {"secondary", record.secondary},
                    {"phase", name(record.phase)},
                    {"attempt", record.attempt}};
  std::string reason =
      record.transitions.empty() ? std::string() : record.transitions.back().message;
  if (record.phase == Phase::leasing)
    if (auto lease = core.parts.capacity.find(Core::lease_owner(record.name));
        lease && lease->state == capacity::Lease::State::waiting)
      reason = "Waiting for capacity: " + lease->reason;
  if (!record.failure_reason.empty()) reason = record.failure_reason;
  answer["reason"] = reason;
  return answer;
}

Json spot_reclaim(Core& core, const JsonObject& input) {
  JobRecord job = get_job(core, input, "job");
  if (!read_spec(job.request).spot)
    throw aws::ApiError("ValidationException",
                        "Training job '" + job.name + "' has no EnableManagedSpotTraining");
  core.records.update(job.name, [&](JobRecord& record) {
    if (record.phase != Phase::running)
      throw aws::ApiError("ValidationException", "Training job '" + record.name + "' is " +
                                                     std::string(name(record.phase)) +
                                                     ", not running: there is nothing to reclaim");
    record.reclaim_requested = true;
    return true;
  });
  core.parts.runner.add(core.step_key(job.name));
  return JsonObject{{"job", job.name}};
}

Json run_record(Core& core, const JsonObject& input) {
  return core.records.find_run_record(get_job(core, input, "job").name);
}

}  // namespace meridian::region::training
