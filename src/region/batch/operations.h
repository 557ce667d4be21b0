// The operations of AWS Batch, as handlers over the documents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "region/batch/core.h"

namespace meridian::region::batch {

// definitions.cpp
base::Json register_job_definition(Core& core, const base::JsonObject& input);
base::Json describe_job_definitions(Core& core, const base::JsonObject& input);
base::Json deregister_job_definition(Core& core, const base::JsonObject& input);
// The revision that a name (its newest active one), name:revision or ARN means. ClientException.
base::JsonObject get_definition(const Core& core, const std::string& reference);

// queues.cpp
base::Json create_compute_environment(Core& core, const base::JsonObject& input);
base::Json update_compute_environment(Core& core, const base::JsonObject& input);
base::Json delete_compute_environment(Core& core, const base::JsonObject& input);
base::Json describe_compute_environments(Core& core, const base::JsonObject& input);
base::Json create_job_queue(Core& core, const base::JsonObject& input);
base::Json update_job_queue(Core& core, const base::JsonObject& input);
base::Json delete_job_queue(Core& core, const base::JsonObject& input);
base::Json describe_job_queues(Core& core, const base::JsonObject& input);
base::Json get_job_queue_snapshot(Core& core, const base::JsonObject& input);
// The compute environment and the queue `default`, once in a region's life.
void make_defaults(Core& core);

// policies.cpp
base::Json create_scheduling_policy(Core& core, const base::JsonObject& input);
base::Json update_scheduling_policy(Core& core, const base::JsonObject& input);
base::Json delete_scheduling_policy(Core& core, const base::JsonObject& input);
base::Json describe_scheduling_policies(Core& core, const base::JsonObject& input);
base::Json list_scheduling_policies(Core& core, const base::JsonObject& input);
base::Json create_consumable_resource(Core& core, const base::JsonObject& input);
base::Json update_consumable_resource(Core& core, const base::JsonObject& input);
base::Json delete_consumable_resource(Core& core, const base::JsonObject& input);
base::Json describe_consumable_resource(Core& core, const base::JsonObject& input);
base::Json list_consumable_resources(Core& core, const base::JsonObject& input);
base::Json list_jobs_by_consumable_resource(Core& core, const base::JsonObject& input);

// submit.cpp
base::Json submit_job(Core& core, const base::JsonObject& input);
base::Json cancel_job(Core& core, const base::JsonObject& input);
base::Json terminate_job(Core& core, const base::JsonObject& input);

// describe.cpp, list.cpp
base::Json describe_jobs(Core& core, const base::JsonObject& input);
base::Json list_jobs(Core& core, const base::JsonObject& input);
std::optional<JobRecord> find_job(const Core& core, const std::string& job);
std::optional<Run> find_run(const Core& core, const std::string& job, std::uint32_t index);
// Why a job or child that is RUNNABLE has not started.
std::string why_runnable(const Core& core, const JobRecord& job, std::uint32_t index);
std::string why_queue_waits(const Core& core, const JobRecord& job);  // the first of its queue
base::JsonObject summary_counts(const States& states);

// tags.cpp
base::Json list_tags_for_resource(Core& core, const base::JsonObject& input);
base::Json tag_resource(Core& core, const base::JsonObject& input);
base::Json untag_resource(Core& core, const base::JsonObject& input);

// The step is to read queues, environments, policies and consumables again.
void tell_queues(Core& core);

}  // namespace meridian::region::batch
