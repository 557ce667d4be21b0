// Service jobs of a region: SageMaker trainings that wait in a Batch queue, within the limits of a
// service environment.
//
//   SUBMITTED ─► RUNNABLE ─► SCHEDULED ─► STARTING ─► RUNNING ─► SUCCEEDED
//                  ▲            │            │           │
//                  └────────────┴────────────┴───────────┴─────► FAILED   (back: an attempt is made
//                  again)
//
// One document per job, one step for all of them. An attempt is a training job whose name the
// service job's id and the attempt's number fix, so that one that exists already is taken for what
// it is.
//
//   ServiceJobs jobs(parts, settings, training.service());
//   jobs.register_steps(table);
//   front.add_region(name, {jobs.service(), …});   // joins BatchRegion's operations
//   jobs.resume();
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "aws/service.h"
#include "control/runner.h"
#include "region/batch/batch.h"

namespace meridian::region::batch {

class ServiceJobs {
 public:
  // `sagemaker`: of the same region; settings.step_kind: "service-<region>" or so.
  ServiceJobs(const Parts& parts, Settings settings, aws::Service sagemaker);
  ~ServiceJobs();
  aws::Service service();  // more of "batch"
  void register_steps(control::StepTable& steps);
  void resume();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meridian::region::batch
