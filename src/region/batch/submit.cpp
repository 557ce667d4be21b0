// SubmitJob, CancelJob, TerminateJob.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "region/batch/jobs/spec.h"
#include "region/batch/operations.h"
#include "region/batch/scheduler.h"
#include "region/batch/shelf.h"
#include "region/batch/validate.h"

namespace meridian::region::batch {
namespace {

using base::Json;
using base::JsonArray;
using base::JsonObject;

JsonObject queue_for(const Core& core, const JsonObject& input) {
  const JsonObject queue = get_item(core, kQueues, base::string_or(input, "jobQueue"));
  const std::string name = base::string_or(queue, "jobQueueName");
  if (base::string_or(queue, "state") != "ENABLED")
    refuse("the job queue '" + name + "' is DISABLED: it takes no jobs");
  if (base::string_or(queue, "jobQueueType") == "SAGEMAKER_TRAINING")
    refuse("the job queue '" + name + "' takes service jobs only: use SubmitServiceJob");
  return queue;
}

void check_share(const JsonObject& queue, const JsonObject& input) {
  const bool fair = !base::string_or(queue, "schedulingPolicyArn").empty();
  const bool given = !base::string_or(input, "shareIdentifier").empty();
  if (fair && !given) refuse("the queue has a scheduling policy: shareIdentifier must be given");
  if (!fair && given) refuse("the queue has no scheduling policy: shareIdentifier can't be given");
}

void check_dependencies(const Core& core, const std::vector<Dependency>& depends_on,
                        std::uint32_t size) {
  for (const Dependency& each : depends_on) {
    if (each.kind == Dependency::Kind::sequential) {
      if (size == 0) refuse("a SEQUENTIAL dependency is for array jobs");
      if (each.job.empty()) continue;
    }
    if (each.job.empty()) refuse("dependsOn: jobId must be given");
    const auto target = find_job(core, each.job);
    if (!target) refuse("dependsOn: there is no job '" + each.job + "' in " + core.settings.region);
    if (each.index && *each.index >= std::max(1u, target->size))
      refuse(fmt::format("dependsOn: job '{}' has no child {}", each.job, *each.index));
    if (each.kind == Dependency::Kind::n_to_n && target->size != size)
      refuse(fmt::format("dependsOn: N_TO_N needs arrays of one size; '{}' has {}, this one {}",
                         each.job, target->size, size));
  }
}

JobRecord record_for(Core& core, const JsonObject& input, const JsonObject& definition,
                     const JsonObject& queue, const JobSpec& spec) {
  JobRecord record;
  record.id = core.parts.random.uuid();
  record.name = base::string_or(input, "jobName");
  record.arn = core.arn("job", record.id);
  record.queue = base::string_or(queue, "jobQueueName");
  record.definition = base::string_or(definition, "jobDefinitionArn");
  record.share = base::string_or(input, "shareIdentifier");
  record.priority = static_cast<int>(base::int_or(
      input, "schedulingPriorityOverride", base::int_or(definition, "schedulingPriority", 0)));
  if (const Json* array = base::find(input, "arrayProperties"))
    record.size = static_cast<std::uint32_t>(base::int_or(*array, "size", 0));
  if (spec.is_multi_node()) record.nodes = static_cast<std::uint32_t>(spec.containers.size());
  if (record.nodes > 0 && record.size > 0) refuse("a multi-node job can't be an array");
  record.states = States(std::max(1u, record.size));
  record.created = record.counted = core.parts.clock.now();
  return record;
}

Json end_job(Core& core, const JsonObject& input, bool terminate) {
  const std::string given = base::string_or(input, "jobId");
  if (base::string_or(input, "reason").empty()) refuse("reason must be given");
  const auto id = parse_job_id(name_of(given));
  const auto job = id ? find_job(core, id->job) : std::nullopt;
  if (!job || (id->index && *id->index >= std::max(1u, job->size)))
    refuse("there is no job '" + given + "' in " + core.settings.region);
  if (is_terminal(job->status())) return JsonObject{};
  (void)core.parts.store.commit({write_of(
      core, EndRequest{.job = job->child_id(0) == job->id || !id->index ? job->id
                                                                        : job->child_id(*id->index),
                       .reason = base::string_or(input, "reason"),
                       .terminate = terminate})});
  core.inbox.lock()->requests = true;
  core.wake();
  return JsonObject{};
}

}  // namespace

Json submit_job(Core& core, const JsonObject& input) {
  check_submission(input);
  const JsonObject queue = queue_for(core, input);
  const JsonObject definition = get_definition(core, base::string_or(input, "jobDefinition"));
  if (base::string_or(definition, "status") != "ACTIVE")
    refuse("the job definition '" + base::string_or(definition, "jobDefinitionArn") +
           "' is INACTIVE");
  check_share(queue, input);
  const JsonObject detail = make_detail(definition, input);
  const JobSpec spec = read_spec(detail);
  for (const auto& [name, count] : spec.consumables) (void)get_item(core, kConsumables, name);
  const JobRecord record = record_for(core, input, definition, queue, spec);
  check_dependencies(core, spec.depends_on, record.size);
  const auto committed = core.parts.store.commit(
      {store::put(spec_key(core.prefix, record.id), base::to_text(detail), {}, 0),
       write_of(core.prefix, record)});
  if (!committed) throw base::Error(base::Code::internal, "a new job's id is taken");
  core.inbox.lock()->jobs.push_back(record.id);
  core.wake();
  return JsonObject{{"jobArn", record.arn}, {"jobName", record.name}, {"jobId", record.id}};
}

Json cancel_job(Core& core, const JsonObject& input) { return end_job(core, input, false); }
Json terminate_job(Core& core, const JsonObject& input) { return end_job(core, input, true); }

}  // namespace meridian::region::batch
