// What the step takes in: documents at the start, jobs that were submitted, orders to end some; and
// what it writes.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "region/batch/scheduler.h"
#include "region/batch/shelf.h"

namespace meridian::region::batch {

using base::Json;
using base::JsonArray;
using base::JsonObject;

namespace {

std::vector<store::Document> list_all(store::Store& store, store::ListQuery query) {
  std::vector<store::Document> documents;
  query.limit = 1000;
  do {
    store::Page page = store.list(query);
    std::move(page.documents.begin(), page.documents.end(), std::back_inserter(documents));
    query.token = page.next_token;
  } while (!query.token.empty());
  return documents;
}

std::vector<std::string> names_in_order(const JsonObject& queue) {
  std::vector<std::pair<std::int64_t, std::string>> ordered;
  if (const Json* list = base::find(queue, "computeEnvironmentOrder"))
    for (const Json& each : list->as_array())
      ordered.emplace_back(base::int_or(each, "order", 0),
                           name_of(base::string_or(each, "computeEnvironment")));
  std::ranges::sort(ordered);
  std::vector<std::string> names;
  for (auto& [order, name] : ordered) names.push_back(std::move(name));
  return names;
}

}  // namespace

std::string request_prefix(const Core& core) { return core.prefix + "request/"; }

store::Write write_of(const Core& core, const EndRequest& request) {
  // A later order to terminate adds to an earlier one to cancel.
  const std::string verb = request.terminate ? "terminate/" : "cancel/";
  return store::put(
      request_prefix(core) + verb + request.job,
      base::to_text(JsonObject{
          {"job", request.job}, {"reason", request.reason}, {"terminate", request.terminate}}));
}

EndRequest parse_request(const store::Document& document) {
  const Json json = base::parse_stored_json(document.body, document.key);
  return {base::string_or(json, "job"), base::string_or(json, "reason"),
          base::bool_or(json, "terminate", false)};
}

void Scheduler::load() {
  state_ = std::make_unique<State>();
  auto documents =
      list_all(core_.parts.store, {.prefix = core_.prefix + "job/", .equals = {{"open", "1"}}});
  std::ranges::sort(documents, {}, &store::Document::created_revision);
  for (const store::Document& document : documents)
    take_in(document.key.substr((core_.prefix + "job/").size()));
  read_queues();
  take_requests();
  // What a crash left of places in the queue and of directories.
  for (const std::string& owner : core_.parts.capacity.waiting_owners())
    if (owner.starts_with("batch/")) state_->also.push_back(core_.parts.capacity.release(owner));
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(core_.settings.directory / "batch", none))
    if (!state_->table.find(entry.path().filename().string()))
      core_.parts.activities.ensure(
          core_.settings.step_kind + ":sweep/" + entry.path().filename().string(), core_.step_key(),
          [path = entry.path()](std::stop_token) { base::remove_tree(path); });
}

void Scheduler::read_queues() {
  std::map<std::string, Queue> queues;
  for (const JsonObject& item : all_items(core_, kQueues)) {
    const std::string name = base::string_or(item, "jobQueueName");
    Queue& queue = queues[name];
    if (auto known = state_->queues.find(name); known != state_->queues.end())
      queue = std::move(known->second);
    queue.name = name;
    queue.priority = static_cast<int>(base::int_or(item, "priority", 0));
    queue.environments = names_in_order(item);
    queue.policy = name_of(base::string_or(item, "schedulingPolicyArn"));
    const Json* limits = base::find(item, "jobStateTimeLimitActions");
    queue.time_limits = limits ? limits->as_array() : JsonArray{};
  }
  state_->queues = std::move(queues);
  state_->environments.clear();
  for (const JsonObject& item : all_items(core_, kEnvironments)) {
    Environment& environment =
        state_->environments[base::string_or(item, "computeEnvironmentName")];
    environment.enabled = base::string_or(item, "state") == "ENABLED";
    const Json* resources = base::find(item, "computeResources");
    environment.most = static_cast<int>(resources ? base::int_or(*resources, "maxvCpus", 0) : 0);
  }
  state_->policies.clear();
  for (const JsonObject& item : all_items(core_, kPolicies))
    state_->policies[base::string_or(item, "name")] = read_fair_share(item);
  state_->consumables.clear();
  for (const JsonObject& item : all_items(core_, kConsumables))
    state_->consumables[base::string_or(item, "consumableResourceName")] =
        base::int_or(item, "totalQuantity", 0);
  for (const auto& [child, live] : state_->live) {
    state_->environments[live.job->runs.at(live.index).environment].used += live.job->spec.vcpus();
    for (const auto& [name, count] : live.job->spec.consumables) state_->consumables[name] -= count;
  }
}

std::shared_ptr<Job> Scheduler::target_of(const Dependency& dependency, const std::string& own) {
  if (dependency.kind == Dependency::Kind::sequential || dependency.job == own) return nullptr;
  if (auto job = state_->table.find(dependency.job)) return job;
  if (const auto document = core_.parts.store.find(job_key(core_.prefix, dependency.job))) {
    JobRecord record = parse_job(*document);
    if (is_terminal(record.status())) return Table::ended_job(std::move(record));
    take_in(dependency.job);  // it was submitted before, and is told later
    if (auto job = state_->table.find(dependency.job)) return job;
  }
  // Its record is gone: what is known of it no longer matters, and it can't be waited for.
  JobRecord gone{.id = dependency.job};
  gone.size = 0;
  gone.states.set(0, Status::failed);
  return Table::ended_job(std::move(gone));
}

void Scheduler::take_in(const std::string& id) {
  if (state_->table.find(id)) return;
  const auto document = core_.parts.store.find(job_key(core_.prefix, id));
  const auto spec_document = core_.parts.store.find(spec_key(core_.prefix, id));
  if (!document || !spec_document) return;
  JobRecord record = parse_job(*document);
  if (!record.open) return;
  JobSpec spec =
      read_spec(base::parse_stored_json(spec_document->body, spec_document->key).as_object());
  std::vector<std::shared_ptr<Job>> targets;
  for (const Dependency& each : spec.depends_on) targets.push_back(target_of(each, id));
  std::vector<store::Document> runs;
  if (record.revision != record.created_revision)  // something has happened to it
    runs = list_all(core_.parts.store,
                    {.prefix = core_.prefix + "child/" + id + "/", .equals = {{"live", "1"}}});
  Job& job = state_->table.add(std::move(record), std::move(spec), std::move(targets), now());
  for (const store::Document& each : runs) {
    Run run = parse_run(each);
    const std::uint32_t index = run.index;
    job.runs[index] = std::move(run);
    const Status status = job.record.states.at(index);
    if (status != Status::starting && status != Status::running) continue;
    Live live{.job = state_->table.find(id), .index = index};
    live.placed = core_.parts.clock.ticks();
    if (const auto started = job.runs[index].started)
      live.started = live.placed + (*started - now());
    state_->live.emplace(job.record.child_id(index), std::move(live));
  }
}

void Scheduler::take_requests() {
  for (const store::Document& document :
       list_all(core_.parts.store, {.prefix = request_prefix(core_)})) {
    const EndRequest request = parse_request(document);
    state_->also.push_back(store::remove(document.key, document.revision));
    const auto id = parse_job_id(request.job);
    if (!id) continue;
    take_in(id->job);
    if (const auto job = state_->table.find(id->job))
      end_job(*job, id->index, request.terminate, request.reason);
  }
}

void Scheduler::end_job(Job& job, std::optional<std::uint32_t> only, bool running_too,
                        const std::string& reason) {
  if (job.ended()) return;
  if (only) {
    if (*only < job.record.states.size() && job.record.is_array())
      end_child(job, *only, running_too, reason);
    return;
  }
  (running_too ? job.record.terminated : job.record.cancelled) = true;
  if (job.record.is_array()) job.record.reason = reason;
  state_->table.change(job);
  for (std::uint32_t index = 0; index < job.record.states.size(); ++index)
    end_child(job, index, running_too, reason);
}

void Scheduler::end_child(Job& job, std::uint32_t index, bool running_too,
                          const std::string& reason) {
  const Status status = job.record.states.at(index);
  if (is_terminal(status)) return;
  const bool waits = status < Status::starting;
  if (!waits && !running_too) return;
  // A child that ended alone needs a document of its own to say so.
  const bool alone = job.record.is_array() && !job.record.cancelled && !job.record.terminated;
  if (waits) {
    if (alone || job.runs.contains(index)) {
      Run& run = job.run_of(index);
      (running_too ? run.terminated : run.cancelled) = true;
    }
    state_->table.move(job, index, Status::failed, reason, now());
    return;
  }
  Run& run = job.run_of(index);
  run.stop = Run::Stop::terminate;
  run.stop_reason = reason;
  run.terminated = true;
  state_->table.change_run(job, index);
}

// All that changed, in one commit.
void Scheduler::write(std::vector<Placement>* placed) {
  std::vector<store::Write> writes = std::move(state_->also);
  state_->also.clear();
  const std::vector<Job*> changed = state_->table.take_changed();
  for (Job* job : changed) {
    for (const std::uint32_t index : job->changed_runs)
      writes.push_back(write_of(core_.prefix, job->record, job->runs.at(index)));
    if (job->changed) writes.push_back(write_of(core_.prefix, job->record));
  }
  if (placed != nullptr)
    for (Placement& each : *placed)
      if (each.claim) std::ranges::move(each.claim->writes(), std::back_inserter(writes));
  if (writes.empty()) return;
  const auto committed = core_.parts.store.commit(std::move(writes));
  if (!committed)
    throw base::Error(base::Code::conflict, committed.error().key + " was changed by somebody else",
                      base::Retry::yes);
  if (placed != nullptr)
    for (Placement& each : *placed)
      if (each.claim) each.claim->settle(*committed);
  for (Job* job : changed) {
    for (const std::uint32_t index : job->changed_runs) {
      job->runs.at(index).revision = *committed;
      const Status status = job->record.states.at(index);
      if (is_terminal(status)) job->runs.erase(index);
    }
    if (job->changed) job->record.revision = *committed;
    job->changed = false;
    job->changed_runs.clear();
  }
}

}  // namespace meridian::region::batch
