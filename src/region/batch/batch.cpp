// SPDX-License-Identifier: Apache-2.0
#include "region/batch/batch.h"

#include "region/batch/bulk.h"
#include "region/batch/operations.h"
#include "region/batch/scheduler.h"

namespace meridian::region::batch {
namespace {

base::Json cancel_jobs(Core& core, const base::JsonObject& input) {
  return for_each_job(core, input, cancel_job);
}
base::Json terminate_jobs(Core& core, const base::JsonObject& input) {
  return for_each_job(core, input, terminate_job);
}

}  // namespace

struct BatchRegion::State {
  State(const Parts& parts, Settings settings)
      : core(parts, std::move(settings)), scheduler(core) {}
  Core core;
  Scheduler scheduler;
};

BatchRegion::BatchRegion(const Parts& parts, Settings settings)
    : state_(std::make_unique<State>(parts, std::move(settings))) {}

BatchRegion::~BatchRegion() = default;

aws::Service BatchRegion::service() {
  constexpr aws::CoreOperation<Core> kOperations[] = {
      {"CancelJob", cancel_job},
      {"CancelJobs", cancel_jobs},
      {"CreateComputeEnvironment", create_compute_environment},
      {"CreateConsumableResource", create_consumable_resource},
      {"CreateJobQueue", create_job_queue},
      {"CreateSchedulingPolicy", create_scheduling_policy},
      {"DeleteComputeEnvironment", delete_compute_environment},
      {"DeleteConsumableResource", delete_consumable_resource},
      {"DeleteJobQueue", delete_job_queue},
      {"DeleteSchedulingPolicy", delete_scheduling_policy},
      {"DeregisterJobDefinition", deregister_job_definition},
      {"DescribeComputeEnvironments", describe_compute_environments},
      {"DescribeConsumableResource", describe_consumable_resource},
      {"DescribeJobDefinitions", describe_job_definitions},
      {"DescribeJobQueues", describe_job_queues},
      {"DescribeJobs", describe_jobs},
      {"DescribeSchedulingPolicies", describe_scheduling_policies},
      {"GetJobQueueSnapshot", get_job_queue_snapshot},
      {"ListConsumableResources", list_consumable_resources},
      {"ListJobs", list_jobs},
      {"ListJobsByConsumableResource", list_jobs_by_consumable_resource},
      {"ListSchedulingPolicies", list_scheduling_policies},
      {"ListTagsForResource", list_tags_for_resource},
      {"RegisterJobDefinition", register_job_definition},
      {"SubmitJob", submit_job},
      {"TagResource", tag_resource},
      {"TerminateJob", terminate_job},
      {"TerminateJobs", terminate_jobs},
      {"UntagResource", untag_resource},
      {"UpdateComputeEnvironment", update_compute_environment},
      {"UpdateConsumableResource", update_consumable_resource},
      {"UpdateJobQueue", update_job_queue},
      {"UpdateSchedulingPolicy", update_scheduling_policy},
  };
  return aws::make_service("batch", state_->core, kOperations);
}

void BatchRegion::register_steps(control::StepTable& steps) {
  steps.add(state_->core.settings.step_kind,
            [this](const control::Key& key) { return state_->scheduler.step(key); });
}

void BatchRegion::resume() {
  make_defaults(state_->core);
  state_->core.wake();
}

void BatchRegion::instance_changed(const std::string& instance_id) {
  if (instance_id.starts_with(state_->core.settings.region + "/batch/")) state_->core.wake();
}

}  // namespace meridian::region::batch
