// What CreateTrainingJob refuses beyond the API model, and what it only warns of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "region/training/request.h"
#include "region/training/training.h"

namespace meridian::region::training {

// Throws ApiError(ValidationException) naming the field, the value and what is allowed. Pure.
void check_request(const base::JsonObject& request, const JobSpec& spec, const Settings& settings);

// Throws ApiError(ValidationException) "No S3 objects found under S3 URL …" for a channel without
// data, or a bucket that is not there. One listing of one key per channel.
void check_data(const JobSpec& spec, s3::Objects& objects, const Settings& settings);

// Fields that are kept but promise what is not given: "VpcConfig: not enforced".
std::vector<std::string> unenforced_fields(const base::JsonObject& request);

// Fields that are kept and have no effect: "ExperimentConfig: kept, but …".
std::vector<std::string> idle_fields(const base::JsonObject& request);

}  // namespace meridian::region::training
