// The operations on service environments and service jobs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "region/batch/core.h"

namespace meridian::region::batch {

base::Json create_service_environment(Core& core, const base::JsonObject& input);
base::Json update_service_environment(Core& core, const base::JsonObject& input);
base::Json delete_service_environment(Core& core, const base::JsonObject& input);
base::Json describe_service_environments(Core& core, const base::JsonObject& input);
base::Json submit_service_job(Core& core, const base::JsonObject& input);
base::Json describe_service_job(Core& core, const base::JsonObject& input);
base::Json list_service_jobs(Core& core, const base::JsonObject& input);
base::Json terminate_service_job(Core& core, const base::JsonObject& input);
base::Json update_service_job(Core& core, const base::JsonObject& input);

}  // namespace meridian::region::batch
