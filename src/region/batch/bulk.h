// CancelJobs and its like: one call for many jobs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aws/service.h"
#include "base/json.h"
#include "region/batch/core.h"

namespace meridian::region::batch {

// Calls `one` ({jobId, reason}) for each of input.jobs; what it refuses is told, and the rest done.
template <class One>
base::Json for_each_job(Core& core, const base::JsonObject& input, One one) {
  base::JsonArray done, errors;
  for (const base::Json& job : input.at("jobs").as_array()) {
    try {
      one(core, base::JsonObject{{"jobId", job}, {"reason", input.at("reason")}});
      done.push_back(job);
    } catch (const aws::ApiError& error) {  // each job has its own answer
      errors.push_back(
          base::JsonObject{{"job", job}, {"code", error.aws_code()}, {"message", error.message()}});
    }
  }
  return base::JsonObject{{"successful", std::move(done)}, {"errors", std::move(errors)}};
}

}  // namespace meridian::region::batch
