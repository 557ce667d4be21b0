// Attempts: starting them, seeing how they stand, ending them.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "region/batch/jobs/retry.h"
#include "region/batch/launch.h"
#include "region/batch/scheduler.h"

namespace meridian::region::batch {
namespace {

namespace fs = std::filesystem;
using InstancePhase = run::InstanceStatus::Phase;
using ActivityPhase = control::ActivityStatus::Phase;
constexpr char kTaskExited[] = "Essential container in task exited";

identity::AccessKey keys_of(Core& core, const JobRecord& job) {
  {
    auto known = core.keys.lock();
    if (const auto found = known->find(job.id); found != known->end()) return found->second;
  }
  constexpr base::Duration kLifetime{30ll * 86'400'000};
  const identity::Principal principal{
      .account = core.settings.account,
      .name = "batch/" + job.id,
      .arn = "arn:aws:sts::" + core.settings.account + ":assumed-role/batch/" + job.id,
      .role = identity::Role::editor,
      .scope = identity::Scope::job};
  auto key = core.parts.identity.add_temporary_key(principal, kLifetime, core.key_owner(job.id));
  return core.keys.lock()->emplace(job.id, std::move(key)).first->second;
}

// Runs as an activity, on copies: the step goes on meanwhile.
void start_attempt(Core& core, const JobRecord& job, const JobSpec& spec, const Run& run) {
  LaunchFacts facts{.programs = choose_programs(core, spec)};
  facts.keys = keys_of(core, job);
  if (const auto lease = core.parts.capacity.find(core.lease_owner(job.child_id(run.index))))
    facts.gpus = lease->gpus;
  for (std::size_t node = 0; node < spec.containers.size(); ++node)
    facts.log_files.push_back(
        core.parts.telemetry.log_file(kLogGroup, log_stream(spec, run, node)));
  for (std::size_t node = 0; node < spec.containers.size(); ++node) {
    core.parts.telemetry.follow({kLogGroup,
                                 log_stream(spec, run, node),
                                 facts.log_files[node],
                                 job.child_id(run.index),
                                 Core::host_name(node),
                                 {}});
    const run::InstanceSpec instance = instance_spec(core, job, spec, run, node, facts);
    for (const run::Mount& mount : instance.mounts)
      if (mount.host.parent_path() == instance.directory) {
        base::make_directories(mount.host, 0777);
        fs::permissions(mount.host, fs::perms::all);
      }
    core.parts.engine.start(instance);
  }
}

// What Batch says of how a program ended.
Attempt attempt_of(const run::ExitStatus& exit, const Container& container) {
  Attempt attempt{.status_reason = kTaskExited};
  switch (exit.kind) {
    case run::ExitStatus::Kind::exited: attempt.exit_code = exit.code; break;
    case run::ExitStatus::Kind::signalled: attempt.exit_code = 128 + exit.code; break;
    case run::ExitStatus::Kind::not_started:
      attempt.status_reason = "Task failed to start";
      attempt.reason = "CannotStartContainerError: " + exit.message;
      break;
    case run::ExitStatus::Kind::lost:
      attempt.status_reason = "Host EC2 (instance i-meridian) terminated.";
      attempt.reason = exit.message;
      break;
  }
  if (exit.out_of_memory)
    attempt.reason = "OutOfMemoryError: Container killed due to memory usage (limit " +
                     std::to_string(container.memory_bytes >> 20) + " MiB)";
  return attempt;
}

Attempt failed_start(const control::ActivityStatus& start) {
  const std::string what = start.error ? start.error->message() : "the start was interrupted";
  const bool image = start.error && start.error->code() == base::Code::invalid_argument;
  return {.reason = (image ? "CannotPullContainerError: " : "ResourceInitializationError: ") + what,
          .status_reason = "Task failed to start"};
}

bool alive(const run::InstanceStatus& status) {
  return status.phase == InstancePhase::starting || status.phase == InstancePhase::running;
}

}  // namespace

std::vector<std::string> Scheduler::instances_of(const Live& live) const {
  const Run& run = live.job->runs.at(live.index);
  std::vector<std::string> ids;
  for (std::size_t node = 0; node < live.job->spec.containers.size(); ++node)
    ids.push_back(core_.gang_id(live.job->record.id, run) + "/" + Core::host_name(node));
  return ids;
}

// The look of an earlier process at what it started. What has no run.json never ran.
void Scheduler::adopt(Live& live, const Run& run) {
  live.adopted = true;
  const fs::path attempt = core_.attempt_directory(live.job->record.id, run);
  for (std::size_t node = 0; node < live.job->spec.containers.size(); ++node)
    if (const fs::path directory = attempt / Core::host_name(node);
        fs::exists(directory / "run.json"))
      core_.parts.engine.adopt(directory);
}

void Scheduler::look_at_runs() {
  for (auto next = state_->live.begin(); next != state_->live.end();) {
    const auto each = next++;  // an attempt that has ended is taken out
    look_at(each->first, each->second);
  }
}

void Scheduler::look_at(const std::string& child, Live& live) {
  Run& run = live.job->runs.at(live.index);
  if (!live.adopted) adopt(live, run);
  std::vector<run::InstanceStatus> nodes;
  for (const std::string& id : instances_of(live)) nodes.push_back(core_.parts.engine.observe(id));
  const auto& main = nodes.at(static_cast<std::size_t>(live.job->spec.main_node));
  if (main.phase == InstancePhase::unknown) return begin(child, live, run);
  if (main.phase != InstancePhase::starting) running(live, run, main.started);
  keep_limits(live, run);
  const bool others = std::ranges::any_of(nodes, alive);
  if (run.stop != Run::Stop::none || (main.exit && others)) stop(live);
  if (!main.exit || others) return;
  Attempt attempt = attempt_of(
      *main.exit, live.job->spec.containers.at(static_cast<std::size_t>(live.job->spec.main_node)));
  attempt.stopped = main.exit->at.ms > 0 ? main.exit->at : now();
  end_attempt(child, live, run, std::move(attempt));
}

// Nothing of it runs here: its start is asked for, or under way, or went wrong.
void Scheduler::begin(const std::string& child, Live& live, Run& run) {
  const std::string name = start_name(child, run);
  auto start = core_.parts.activities.find(name);
  if (!start && run.stop != Run::Stop::none)
    return end_attempt(child, live, run, {.stopped = now(), .status_reason = run.stop_reason});
  if (!start)
    start = core_.parts.activities.ensure(
        name, core_.step_key(),
        [core = &core_, job = live.job->record, spec = live.job->spec, run](std::stop_token) {
          start_attempt(*core, job, spec, run);
        });
  if (start->phase == ActivityPhase::running) return;
  Attempt attempt = failed_start(*start);
  if (start->phase == ActivityPhase::succeeded) {
    const auto main = Core::host_name(static_cast<std::size_t>(live.job->spec.main_node));
    const auto status =
        core_.parts.engine.observe(core_.gang_id(live.job->record.id, run) + "/" + main);
    if (status.phase != InstancePhase::unknown) return;  // between the two looks; seen at the next
    attempt = attempt_of({.kind = run::ExitStatus::Kind::lost, .message = "nothing of it is left"},
                         live.job->spec.containers.front());
  }
  attempt.stopped = now();
  end_attempt(child, live, run, std::move(attempt));
}

void Scheduler::running(Live& live, Run& run, std::optional<base::Timestamp> started) {
  Job& job = *live.job;
  if (run.started) return;
  run.started = started.value_or(now());
  if (!run.first_started) run.first_started = run.started;
  if (!job.record.started) job.record.started = run.started;
  live.started = core_.parts.clock.ticks();
  state_->table.move(job, live.index, Status::running, "", now());
}

void Scheduler::keep_limits(Live& live, Run& run) {
  const auto& seconds = live.job->spec.timeout_seconds;
  if (!seconds || !live.started || run.stop != Run::Stop::none) return;
  if (core_.parts.clock.ticks() - *live.started < base::Duration(*seconds * 1000)) return;
  run.stop = Run::Stop::timeout;
  run.stop_reason = "Job attempt duration exceeded timeout";
  state_->table.change_run(*live.job, live.index);
}

void Scheduler::stop(Live& live) {
  if (live.stopped) return;
  live.stopped = true;
  for (const std::string& id : instances_of(live)) core_.parts.engine.stop(id);
}

void Scheduler::end_attempt(const std::string& child, Live& live, Run& run, Attempt attempt) {
  Job& job = *live.job;
  attempt.started = run.started;
  attempt.log_stream = run.log_stream;
  attempt.task = run.task;
  if (run.stop != Run::Stop::none) attempt.status_reason = run.stop_reason;
  Status status = Status::failed;
  if (run.stop == Run::Stop::none) {
    if (attempt.exit_code == 0)
      status = Status::succeeded;
    else if (is_retried(job.spec, attempt, run.attempt))
      status = Status::runnable;
  }
  account(live, run);
  state_->also.push_back(core_.parts.capacity.release(core_.lease_owner(child)));
  const std::string reason = attempt.status_reason;
  run.attempts.push_back(std::move(attempt));
  clean_up(child, live, run);
  if (status == Status::runnable) run.started.reset();
  state_->table.move(job, live.index, status, reason, now());
  state_->live.erase(child);
}

// What it held goes back, and its share has used it.
void Scheduler::account(const Live& live, const Run& run) {
  const JobSpec& spec = live.job->spec;
  state_->environments[run.environment].used -= spec.vcpus();
  for (const auto& [name, count] : spec.consumables) state_->consumables[name] += count;
  const std::string& share = live.job->record.share;
  const auto queue = state_->queues.find(live.job->record.queue);
  if (share.empty() || queue == state_->queues.end()) return;
  const base::Duration held = core_.parts.clock.ticks() - live.placed;
  queue->second.usage.add(share, static_cast<double>(held.count()) / 1000 * spec.vcpus());
}

void Scheduler::clean_up(const std::string& child, const Live& live, const Run& run) {
  for (const std::string& id : instances_of(live)) core_.parts.engine.forget(id);
  core_.parts.activities.forget(start_name(child, run));
  std::vector<std::string> streams;
  for (std::size_t node = 0; node < live.job->spec.containers.size(); ++node)
    streams.push_back(log_stream(live.job->spec, run, node));
  const std::string name =
      core_.settings.step_kind + ":" + child + "/" + std::to_string(run.attempt) + "/clean";
  state_->cleaning[name] = live.job->record.id;
  core_.parts.activities.ensure(
      name, core_.step_key(),
      [core = &core_, streams,
       directory = core_.attempt_directory(live.job->record.id, run)](std::stop_token) {
        for (const std::string& stream : streams) core->parts.telemetry.finish(kLogGroup, stream);
        base::remove_tree(directory);
      });
}

// Jobs that have ended are closed once nothing of them is left.
void Scheduler::end_jobs() {
  write();  // closed is only what is stored as ended
  std::set<std::string> busy;
  std::erase_if(state_->cleaning, [&](const auto& each) {
    const auto status = core_.parts.activities.find(each.first);
    const bool running = status && status->phase == ActivityPhase::running;
    if (running) busy.insert(each.second);
    if (!running) core_.parts.activities.forget(each.first);
    return !running;
  });
  const std::set<std::string> ended = state_->table.ended_jobs();
  for (const std::string& id : ended)
    if (!busy.contains(id)) close(id);
  write();
}

void Scheduler::close(const std::string& id) {
  const auto job = state_->table.find(id);
  const fs::path directory = core_.directory(id);
  if (fs::exists(directory) || core_.keys.lock()->contains(id)) {
    const std::string name = core_.settings.step_kind + ":" + id + "/end";
    const auto end = core_.parts.activities.ensure(
        name, core_.step_key(), [core = &core_, id, directory](std::stop_token) {
          core->parts.identity.remove_keys_of(core->key_owner(id));
          base::remove_tree(directory);
          core->keys.lock()->erase(id);
        });
    if (end.phase == ActivityPhase::running) return;
    core_.parts.activities.forget(name);
    if (end.error) {
      base::log_warn("cleaning up after a batch job failed",
                     {{"job", id}, {"error", end.error->what()}});
      return;  // again at the next turn
    }
  }
  job->record.open = false;
  state_->also.push_back(write_of(core_.prefix, job->record));
  state_->table.erase(id);
}

}  // namespace meridian::region::batch
