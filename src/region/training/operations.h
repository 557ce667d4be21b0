// The SageMaker operations on training jobs, as handlers over the records.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/service.h"
#include "region/training/core.h"

namespace meridian::region::training {

base::Json create_training_job(Core& core, const base::JsonObject& input);
base::Json describe_training_job(Core& core, const base::JsonObject& input);
base::Json list_training_jobs(Core& core, const base::JsonObject& input);
base::Json stop_training_job(Core& core, const base::JsonObject& input);
base::Json delete_training_job(Core& core, const base::JsonObject& input);
base::Json update_training_job(Core& core, const base::JsonObject& input);
base::Json add_tags(Core& core, const base::JsonObject& input);
base::Json list_tags(Core& core, const base::JsonObject& input);
base::Json delete_tags(Core& core, const base::JsonObject& input);
base::Json search(Core& core, const base::JsonObject& input);

// Meridian's own calls; input member "job".
base::Json why(Core& core, const base::JsonObject& input);
base::Json spot_reclaim(Core& core, const base::JsonObject& input);
base::Json run_record(Core& core, const base::JsonObject& input);

// The record as DescribeTrainingJob answers it.
base::JsonObject description_of(const JobRecord& record, Core& core);
// The record of TrainingJobName; ApiError(ValidationException) "Requested resource not found."
JobRecord get_job(Core& core, const base::JsonObject& input,
                  std::string_view member = "TrainingJobName");

}  // namespace meridian::region::training
