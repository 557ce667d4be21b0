// SPDX-License-Identifier: Apache-2.0
#include "region/training/training.h"

#include "region/training/controller.h"
#include "region/training/core.h"
#include "region/training/operations.h"

namespace meridian::region::training {

struct TrainingRegion::State {
  State(const Parts& parts, Settings settings)
      : core(parts, std::move(settings)), controller(core) {}
  Core core;
  Controller controller;
};

TrainingRegion::TrainingRegion(const Parts& parts, Settings settings)
    : state_(std::make_unique<State>(parts, std::move(settings))) {}

TrainingRegion::~TrainingRegion() = default;

aws::Service TrainingRegion::service() {
  constexpr aws::CoreOperation<Core> kOperations[] = {
      {"CreateTrainingJob", create_training_job},
      {"DescribeTrainingJob", describe_training_job},
      {"ListTrainingJobs", list_training_jobs},
      {"StopTrainingJob", stop_training_job},
      {"DeleteTrainingJob", delete_training_job},
      {"UpdateTrainingJob", update_training_job},
      {"AddTags", add_tags},
      {"ListTags", list_tags},
      {"DeleteTags", delete_tags},
      {"Search", search},
  };
  return aws::make_service("sagemaker", state_->core, kOperations);
}

std::map<std::string, aws::OperationHandler> TrainingRegion::meridian_calls() {
  Core* core = &state_->core;
  return {{"capacity", [core](const aws::CallContext&,
                              const base::JsonObject&) { return core->parts.capacity.snapshot(); }},
          {"why", [core](const aws::CallContext&,
                         const base::JsonObject& input) { return why(*core, input); }},
          {"spot-reclaim",
           [core](const aws::CallContext&, const base::JsonObject& input) {
             return spot_reclaim(*core, input);
           }},
          {"run-record", [core](const aws::CallContext&, const base::JsonObject& input) {
             return run_record(*core, input);
           }}};
}

void TrainingRegion::register_steps(control::StepTable& steps) {
  steps.add(state_->core.settings.step_kind,
            [this](const control::Key& key) { return state_->controller.step(key); });
}

void TrainingRegion::resume() {
  for (const std::string& job : state_->core.records.unfinished())
    state_->core.parts.runner.add(state_->core.step_key(job));
}

void TrainingRegion::instance_changed(const std::string& instance_id) {
  // <region>/<job>.<uid>/<attempt>/<host>
  const std::string stem = state_->core.settings.region + "/";
  if (!instance_id.starts_with(stem)) return;
  std::string rest = instance_id.substr(stem.size());
  auto slash = rest.find('/');
  auto dot = rest.rfind('.', slash);
  if (slash == std::string::npos || dot == std::string::npos) return;
  state_->core.parts.runner.add(state_->core.step_key(rest.substr(0, dot)));
}

}  // namespace meridian::region::training
