// SPDX-License-Identifier: Apache-2.0
#include "region/batch/service/service_jobs.h"

#include "region/batch/bulk.h"
#include "region/batch/service/calls.h"
#include "region/batch/service/step.h"

namespace meridian::region::batch {
namespace {

base::Json terminate_service_jobs(Core& core, const base::JsonObject& input) {
  return for_each_job(core, input, terminate_service_job);
}

}  // namespace

struct ServiceJobs::State {
  State(const Parts& parts, Settings settings, aws::Service sagemaker)
      : core(parts, std::move(settings)), step(core, std::move(sagemaker)) {}
  Core core;
  ServiceStep step;
};

ServiceJobs::ServiceJobs(const Parts& parts, Settings settings, aws::Service sagemaker)
    : state_(std::make_unique<State>(parts, std::move(settings), std::move(sagemaker))) {}

ServiceJobs::~ServiceJobs() = default;

aws::Service ServiceJobs::service() {
  constexpr aws::CoreOperation<Core> kOperations[] = {
      {"CreateServiceEnvironment", create_service_environment},
      {"DeleteServiceEnvironment", delete_service_environment},
      {"DescribeServiceEnvironments", describe_service_environments},
      {"DescribeServiceJob", describe_service_job},
      {"ListServiceJobs", list_service_jobs},
      {"SubmitServiceJob", submit_service_job},
      {"TerminateServiceJob", terminate_service_job},
      {"TerminateServiceJobs", terminate_service_jobs},
      {"UpdateServiceEnvironment", update_service_environment},
      {"UpdateServiceJob", update_service_job},
  };
  return aws::make_service("batch", state_->core, kOperations);
}

void ServiceJobs::register_steps(control::StepTable& steps) {
  steps.add(state_->core.settings.step_kind,
            [this](const control::Key& key) { return state_->step.step(key); });
}

void ServiceJobs::resume() { state_->core.wake(); }

}  // namespace meridian::region::batch
